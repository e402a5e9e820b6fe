#!/usr/bin/env python3
import sys
import unicodedata

BAD = set(range(0x202A, 0x202F)) | set(range(0x2066, 0x206A)) | set(range(0xE0000, 0xE0080))
SOFT = {0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD}

for path in sys.argv[1:]:
    for n, line in enumerate(open(path, encoding="utf-8", errors="replace"), 1):
        for col, ch in enumerate(line, 1):
            cp = ord(ch)
            if cp in BAD or cp in SOFT:
                level = "high" if cp in BAD else "low"
                print("%s:%d:%d U+%04X %s (%s)" % (path, n, col, cp, unicodedata.name(ch, "?"), level))
        hidden = "".join(chr(ord(c) - 0xE0000) for c in line if 0xE0020 <= ord(c) < 0xE007F)
        if len(hidden) > 8:
            print("%s:%d hidden text: %r" % (path, n, hidden))
