#!/usr/bin/env python3
"""Test vectors for core/token/bpe, made with PyPI tiktoken, without network.

    go run ./internal/genvocab -export DIR
    python3 core/token/bpe/testdata/gen_vectors.py DIR > core/token/bpe/testdata/vectors.json

With --serve it answers instead of writing vectors: it reads frames (4 bytes little endian length, text in UTF-8) from
standard input and writes for each one the number of ids and the ids, 4 bytes little endian each; the live test of the
package uses that.

    python3 gen_vectors.py DIR --serve ENCODING

With --time it answers each frame with the nanoseconds, 8 bytes little endian, that encode_ordinary took for it, the shortest
of three times; the benchmark of the package uses that.

tiktoken downloads its vocabularies when an encoding is asked for. Here its loader reads DIR/<name>.tiktoken instead and
still checks OpenAI's hash; patterns and special tokens are tiktoken's own.
"""
import hashlib
import itertools
import json
import os
import struct
import sys
import time
import unicodedata

import tiktoken
import tiktoken.load
from tiktoken_ext import openai_public

NAMES = ("cl100k_base", "o200k_base")

# Characters that between them stand for every class and special case of the two patterns; all strings of them up to
# EXHAUSTIVE_LENGTH are compared through digests.
ALPHABET = ["A", "a", "\u01c5", "\u02b0", "\u4e2d", "\u0301", "7", "\u0664", " ", "\t", "\n", "\r", "\u00a0", "!", "/",
            "'", "s", "S", "\u017f", "l", "\u00bd", "\U0001f600"]
EXHAUSTIVE_LENGTH = 4
FULL_IDS = 120  # longer vectors carry a digest only


def encodings(folder):
    def local(url, expected_hash):
        path = os.path.join(folder, url.rsplit("/", 1)[1])
        return tiktoken.load.load_tiktoken_bpe(path, expected_hash)

    openai_public.load_tiktoken_bpe = local
    return {name: tiktoken.Encoding(**getattr(openai_public, name)()) for name in NAMES}


def digest(lists):
    h = hashlib.sha256()
    for ids in lists:
        h.update(struct.pack(f"<I{len(ids)}I", len(ids), *ids))
    return h.hexdigest()


def code_points():
    return (cp for cp in range(0x110000) if not 0xD800 <= cp < 0xE000)


def classes():
    """The class of every code point as tiktoken's own regular expressions see it: runs of [first, class]."""
    ranks = {bytes([i]): i for i in range(256)}
    patterns = {"upper": r"[\p{Lu}\p{Lt}]", "lower": r"\p{Ll}", "common": r"[\p{Lm}\p{Lo}]", "mark": r"\p{M}",
                "number": r"\p{N}", "newline": r"[\r\n]", "space": r"\s"}
    probes = {k: tiktoken.Encoding(k, pat_str=p, mergeable_ranks=ranks, special_tokens={}) for k, p in patterns.items()}
    runs = []
    for cp in code_points():
        name = next((k for k, p in probes.items() if p.encode_ordinary(chr(cp))), "other")
        if not runs or runs[-1][1] != name:
            runs.append([cp, name])
    return runs


def by_category():
    """Up to 40 characters of every general category (as Python knows it), spread over its range, in letters and digits."""
    found = {}
    for cp in code_points():
        found.setdefault(unicodedata.category(chr(cp)), []).append(cp)
    for name, cps in sorted(found.items()):
        some = [chr(cps[i * len(cps) // 40]) for i in range(40)] if len(cps) > 40 else [chr(c) for c in cps]
        yield f"category {name} run", "".join(some)
        yield f"category {name} between letters", "".join(f"a{c}B{c}c {c}d" for c in some)
        yield f"category {name} between symbols", "".join(f"!{c}?{c}{c}1{c}\n" for c in some)


def contractions():
    endings = ["s", "t", "re", "ve", "m", "ll", "d", "\u017f", "l", "r", "v", "e", "x", "\u212a", "L\u0131"]
    for w in ("we", "WE", "We", "wE", "\u4e2d", "3", "", " ", "!", "e\u0301"):
        yield f"contractions after {w!r}", " ".join(
            w + "'" + "".join(x) for e in endings for x in itertools.product(*[(c.lower(), c.upper()) for c in e]))
        yield f"contractions closed after {w!r}", "".join(w + "'" + e for e in endings) + "".join(
            w + "\u2019" + e for e in endings)


def runs():
    for c in ["a", "A", " ", "\t", "\n", "\r\n", "0", "=", "-", "/", "'", "\u4e2d", "\u0301", "\u00a0", "\U0001f600", "ab", "aB",
              "\u0000", "_", "\u200d", " \n", "\n ", "'s", "\u3042"]:
        for n in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 5000):
            yield f"run {c!r} x{n}", c, n
        yield f"run {c!r} in text", "x" + c * 40 + "y" + c * 3


def texts():
    yield "empty", ""
    yield from by_category()
    yield from contractions()
    yield from runs()
    blank = [" ", "\t", "\n", "\r", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000", "\u200b"]
    for a, b in itertools.product(blank, repeat=2):
        yield f"blanks {a!r} {b!r}", f"x{a}{b}y{a}{a}{b}!{b}{a}{b}1{a}\n{b}Z{a}{b}"
    yield "blanks at the end", "end \n \t "
    yield "newline and slashes", "path//\n/\r\n//x !/\n/ ?\n\n\n/a\r\r/b"
    yield "cjk", "模型的上下文窗口就像一艘船：装得太满就会沉没。日本語のテキストも、한국어 텍스트도 있습니다。ｆｕｌｌｗｉｄｔｈ ㍿"
    yield "scripts", "Ελληνικά Кириллица עברית العربية हिन्दी தமிழ் ไทย ქართული አማርኛ ᏣᎳᎩ 𐐔𐐇𐐝𐐀𐐡𐐇 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ǅǈǋ ŉ ﬁ ß ẞ İı"
    yield "emoji", "👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪🇫🇷 ☎️ ❤️‍🔥 e\u0301\u0323\u0308 a\u0300\u0301b 1\u0301 \u0301a \u0301A \u0301\u0301AB \u0301'"
    yield "base64", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==" * 3
    yield "json", '{"id": 17, "name":"Plimsoll","ok":true,"list":[1,2.50,-3e10,null],"nested":{"a_b":"\\u00e9\\n","c-d":[]}}'
    yield "code", "func (e *Encoding) Count(s string) int {\n\treturn e.count([]byte(s)) // no copy\n}\n\n\tif x != 0x1F && !ok {\r\n\t\tpanic(`never`)\r\n\t}\n"
    yield "numbers", "1 12 123 1234 1234567890 3.14159 1,000,000 ½ ² Ⅻ ٣٤٥٦ 0x7fff 1e-9 2026-11-27T23:45:00.000Z"
    yield "special tokens", "".join(
        f"<|{s}|> a<|{s}|>b\n" for s in ("endoftext", "endofprompt", "fim_prefix", "fim_middle", "fim_suffix", "startoftext", "start",
                                        "message", "channel", "return", "call", "reserved_200018"))
    yield "camel", "parseHTTPResponseFromURLString XMLHttpRequest iOS macOS OpenAI's LLMs'RE McDonald's ÉCOLEécole ΑΒΓαβγ中A文b"
    yield "controls", "".join(chr(c) for c in range(32)) + "\x7f\x80\x9f" + "a\x00b\x01 c"
    yield "edges of planes", "".join(chr(c) for c in (0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF))
    yield "long word", "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 4
    yield "long mixed", "".join(chr(0x21 + (i * i * 7 + i * 13) % 94) for i in range(3000))
    yield "long cjk", "".join(chr(0x4E00 + (i * i * 31 + i * 17) % 5000) for i in range(1500))


def vectors(encs):
    out = []
    for name, text, *repeat in texts():
        v = {"name": name, "text": text, "repeat": repeat[0] if repeat else 1, "count": {}, "digest": {}, "ids": {}}
        for enc, e in encs.items():
            ids = e.encode_ordinary(text * v["repeat"])
            v["count"][enc] = len(ids)
            if len(ids) <= FULL_IDS:
                v["ids"][enc] = ids
            else:
                v["digest"][enc] = digest([ids])
        out.append({k: x for k, x in v.items() if x != {}})
    return out


def exhaustive(encs):
    """For every encoding and first character, a digest of the ids of all strings over ALPHABET that start with it."""
    out = {}
    for enc, e in encs.items():
        out[enc] = [digest(e.encode_ordinary(first + "".join(rest)) for n in range(EXHAUSTIVE_LENGTH)
                           for rest in itertools.product(ALPHABET, repeat=n)) for first in ALPHABET]
    return {"alphabet": ALPHABET, "length": EXHAUSTIVE_LENGTH, "digests": out}


def main():
    folder = sys.argv[1]
    encs = encodings(folder)
    if len(sys.argv) > 3 and sys.argv[2] == "--serve":
        serve(encs[sys.argv[3]])
        return
    if len(sys.argv) > 3 and sys.argv[2] == "--time":
        measure(encs[sys.argv[3]])
        return
    doc = {"tiktoken": tiktoken.__version__,
           "specials": {n: encs[n]._special_tokens for n in NAMES} | {
               "o200k_harmony": openai_public.o200k_harmony()["special_tokens"]},
           "classes": classes(), "exhaustive": exhaustive(encs)}
    head = json.dumps(doc, separators=(",", ":"))[:-1]
    body = ",\n".join(json.dumps(v, separators=(",", ":")) for v in vectors(encs))
    print(head + ',"vectors":[\n' + body + "\n]}")


def serve(enc):
    while head := sys.stdin.buffer.read(4):
        text = sys.stdin.buffer.read(struct.unpack("<I", head)[0]).decode("utf-8")
        ids = enc.encode_ordinary(text)
        sys.stdout.buffer.write(struct.pack(f"<I{len(ids)}I", len(ids), *ids))
        sys.stdout.buffer.flush()


def measure(enc):
    while head := sys.stdin.buffer.read(4):
        text = sys.stdin.buffer.read(struct.unpack("<I", head)[0]).decode("utf-8")
        best = 1 << 62
        for _ in range(3):
            start = time.perf_counter_ns()
            enc.encode_ordinary(text)
            best = min(best, time.perf_counter_ns() - start)
        sys.stdout.buffer.write(struct.pack("<Q", best))
        sys.stdout.buffer.flush()


main()
