"""Send test cases to a chatbot the user owns and count broken ones."""
import argparse
import json
import time
import urllib.request


def ask(url, text):
    req = urllib.request.Request(url, data=json.dumps({"message": text}).encode(),
                                 headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(req, timeout=60) as r:
        return json.load(r).get("reply", "")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--url", required=True)
    ap.add_argument("--cases", required=True)
    a = ap.parse_args()
    broken = 0
    cases = json.load(open(a.cases))["cases"]
    for c in cases:
        reply = ask(a.url, c["text"])
        hit = c["canary"].lower() in reply.lower()
        broken += hit
        print(f"| {c['id']} | {c['class']} | {'yes' if hit else 'no'} |")
        time.sleep(1)
    print(f"{broken} of {len(cases)} broken")


if __name__ == "__main__":
    main()
