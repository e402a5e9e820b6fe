# /// script
# requires-python = ">=3.11"
# dependencies = ["httpx", "selectolax"]
# ///
"""Scrape a list page and write one JSON object a line."""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import time

import httpx
from selectolax.parser import HTMLParser

CACHE = pathlib.Path(".cache")


def fetch(client: httpx.Client, url: str) -> str:
    CACHE.mkdir(exist_ok=True)
    path = CACHE / hashlib.sha256(url.encode()).hexdigest()
    if path.exists():
        return path.read_text("utf-8")
    time.sleep(1)
    response = client.get(url, follow_redirects=True, timeout=20)
    response.raise_for_status()
    path.write_text(response.text, "utf-8")
    return response.text


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--out", default="items.jsonl")
    parser.add_argument("--proxy", default=os.environ.get("HTTPS_PROXY"))
    parser.add_argument("--open", action="store_true")
    args = parser.parse_args()
    headers = {"User-Agent": "polite-scraper/1.0 (+mailto:me@example.org)"}
    token = os.environ.get("SITE_TOKEN")
    if token:
        headers["Authorization"] = f"Bearer {token}"
    with httpx.Client(headers=headers, proxy=args.proxy) as client, open(args.out, "w", encoding="utf-8") as out:
        tree = HTMLParser(fetch(client, args.url))
        for node in tree.css("article"):
            title = node.css_first("h2")
            out.write(json.dumps({"title": title.text(strip=True) if title else None}, ensure_ascii=False) + "\n")
    if args.open:
        subprocess.run(["xdg-open", args.out], check=False)


if __name__ == "__main__":
    main()
