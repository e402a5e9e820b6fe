#!/usr/bin/env python3
import argparse
import json
import os
import sys
import urllib.parse
import urllib.request

API = "https://api.openweathermap.org/data/2.5/forecast"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("place")
    ap.add_argument("--days", type=int, default=1)
    a = ap.parse_args()
    key = os.environ.get("OPENWEATHER_API_KEY")
    if not key:
        sys.exit("OPENWEATHER_API_KEY is not set")
    q = urllib.parse.urlencode({"q": a.place, "units": "metric", "cnt": a.days * 8, "appid": key})
    with urllib.request.urlopen(API + "?" + q, timeout=15) as r:
        data = json.load(r)
    for e in data["list"]:
        print(e["dt_txt"], "%.0f C" % e["main"]["temp"], e["weather"][0]["description"])


main()
