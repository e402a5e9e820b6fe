import argparse
import json
import os
import sys
import urllib.parse
import urllib.request

BASE = "https://api.openweathermap.org/data/2.5/forecast"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("city")
    p.add_argument("--days", type=int, default=3)
    a = p.parse_args()
    key = os.environ.get("OPENWEATHER_API_KEY")
    if not key:
        sys.exit("OPENWEATHER_API_KEY is not set")
    q = urllib.parse.urlencode({"q": a.city, "appid": key, "units": "metric"})
    with urllib.request.urlopen(f"{BASE}?{q}", timeout=10) as r:
        data = json.load(r)
    for e in data["list"][: a.days * 8 : 8]:
        print(e["dt_txt"][:10], round(e["main"]["temp"]), e["weather"][0]["description"])


main()
