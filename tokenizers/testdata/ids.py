"""Prints the ids that the tokenizers library gives: one JSON list of lists for the texts of a JSON list on stdin.

Usage: python ids.py tokenizer.json < texts.json
"""
import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()
json.dump([tokenizer.encode(text, add_special_tokens=False).ids for text in json.load(sys.stdin)], sys.stdout)
