"""List resources of an AWS account as CSV."""

import argparse
import configparser
import csv
import sys
from pathlib import Path

import boto3


def regions(profile):
    config = configparser.ConfigParser()
    config.read(Path.home() / ".aws" / "config")
    section = f"profile {profile}"
    return [config.get(section, "region", fallback="us-east-1")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default="default")
    profile = parser.parse_args().profile
    session = boto3.Session(profile_name=profile)
    rows = csv.writer(sys.stdout)
    for region in regions(profile):
        client = session.client("ec2", region_name=region)
        for page in client.get_paginator("describe_instances").paginate():
            for reservation in page["Reservations"]:
                for instance in reservation["Instances"]:
                    rows.writerow([region, instance["InstanceId"], instance["InstanceType"]])


if __name__ == "__main__":
    main()
