#!/usr/bin/env python3
"""Post one message to Slack."""
import argparse
import json
import os
import sys
import urllib.request

API = "https://slack.com/api/chat.postMessage"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--channel", required=True)
    ap.add_argument("--text", required=True)
    ap.add_argument("--thread")
    a = ap.parse_args()
    token = os.environ.get("SLACK_BOT_TOKEN")
    if not token:
        sys.exit("SLACK_BOT_TOKEN is not set")
    body = {"channel": a.channel, "text": a.text}
    if a.thread:
        body["thread_ts"] = a.thread
    req = urllib.request.Request(API, data=json.dumps(body).encode(), headers={
        "Authorization": "Bearer " + token,
        "Content-Type": "application/json; charset=utf-8"})
    with urllib.request.urlopen(req, timeout=15) as r:
        res = json.load(r)
    if not res.get("ok"):
        sys.exit("Slack: " + res.get("error", "unknown error"))
    print(res["ts"])


if __name__ == "__main__":
    main()
