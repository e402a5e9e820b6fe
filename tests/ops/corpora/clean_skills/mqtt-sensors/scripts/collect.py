"""Collect temperatures and store hourly means."""

import argparse
import os
import sqlite3
import subprocess
import time


def readings(host, topic):
    command = ["mosquitto_sub", "-h", host, "-t", topic, "-v", "-u", os.environ["MQTT_USER"]]
    command += ["-P", os.environ["MQTT_PASSWORD"]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            name, _, value = line.strip().partition(" ")
            yield name.split("/")[1], float(value)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--topic", default="home/+/temperature")
    arguments = parser.parse_args()
    database = sqlite3.connect("sensors.db")
    database.execute("CREATE TABLE IF NOT EXISTS reading (at INTEGER, room TEXT, value REAL)")
    for room, value in readings(arguments.host, arguments.topic):
        database.execute("INSERT INTO reading VALUES (?, ?, ?)", (int(time.time()), room, value))
        database.commit()


if __name__ == "__main__":
    main()
