"""Fill the fields of a PDF form."""

import json
import sys

from pypdf import PdfReader, PdfWriter


def main(source, data, target):
    reader, writer = PdfReader(source), PdfWriter()
    writer.append(reader)
    with open(data, encoding="utf-8") as file:
        values = json.load(file)
    for page in writer.pages:
        writer.update_page_form_field_values(page, values)
    with open(target, "wb") as file:
        writer.write(file)


if __name__ == "__main__":
    main(*sys.argv[1:4])
