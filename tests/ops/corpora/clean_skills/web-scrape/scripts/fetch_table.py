"""Print the first table of a page as CSV."""

import csv
import sys
import time
import urllib.request
from html.parser import HTMLParser


class Table(HTMLParser):
    """Rows of the first table."""

    def __init__(self):
        super().__init__()
        self.rows, self.cell, self.depth = [], None, 0

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.depth += 1
        elif tag == "tr" and self.depth == 1:
            self.rows.append([])
        elif tag in ("td", "th") and self.depth == 1:
            self.cell = []

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data.strip())

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1].append(" ".join(self.cell))
            self.cell = None
        elif tag == "table":
            self.depth -= 1


def main():
    request = urllib.request.Request(sys.argv[1], headers={"User-Agent": "table-reader/1.0"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        page = answer.read(5_000_000).decode("utf-8", "replace")
    time.sleep(1)
    table = Table()
    table.feed(page)
    csv.writer(sys.stdout).writerows(table.rows)


if __name__ == "__main__":
    main()
