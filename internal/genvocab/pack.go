package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// magic opens every packed vocabulary; the digit is the format's version. core/token/bpe/unpack.go reads it.
const magic = "PLMBPE1\n"

// parseRanks reads the published text form: one token a line, base64 of its bytes, a blank, its rank. The result is
// indexed by rank; ranks must be dense from 0 and tokens distinct.
func parseRanks(text []byte) ([][]byte, error) {
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	tokens := make([][]byte, len(lines))
	for n, line := range lines {
		encoded, number, found := bytes.Cut(line, []byte(" "))
		if !found {
			return nil, fmt.Errorf("parse: line %d, want token and rank, got %q", n+1, line)
		}
		token, err := base64.StdEncoding.DecodeString(string(encoded))
		if err != nil {
			return nil, fmt.Errorf("parse: line %d: %w", n+1, err)
		}
		rank, err := strconv.Atoi(string(number))
		if err != nil {
			return nil, fmt.Errorf("parse: line %d: %w", n+1, err)
		}
		if rank < 0 || rank >= len(tokens) || tokens[rank] != nil || len(token) == 0 || len(token) > math.MaxUint8 {
			return nil, fmt.Errorf("parse: line %d, want a fresh rank below %d and 1..255 bytes, got rank %d, %d bytes",
				n+1, len(tokens), rank, len(token))
		}
		tokens[rank] = token
	}
	return tokens, nil
}

// pack writes the tokens in byte order, front-coded, in columns:
//
//	magic, count (uint32), length of the last column (uint32), then per token in byte order
//	bytes shared with the token before · length of the rest · length of the left half of its last merge, 0 for
//	single bytes · rank bits 0–7 · rank bits 8–15 · rank bits 16–23 · the rest
//
// Integers are little endian. A token of several bytes that merging its own bytes does not give is an error: the encoder
// relies on there being none.
func pack(tokens [][]byte) ([]byte, error) {
	ranks := make(map[string]int, len(tokens))
	order := make([]int, len(tokens))
	for rank, token := range tokens {
		if _, twice := ranks[string(token)]; twice {
			return nil, fmt.Errorf("pack: token %q, want it once, got it twice", token)
		}
		ranks[string(token)] = rank
		order[rank] = rank
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(tokens[a], tokens[b]) })
	var columns [6][]byte
	var rest, previous []byte
	for _, rank := range order {
		token := tokens[rank]
		shared := sharedPrefix(previous, token)
		split := lastMerge(ranks, token)
		if split == 0 && len(token) > 1 {
			return nil, fmt.Errorf("pack: token %q, want merging to give it, got other tokens", token)
		}
		columns[0] = append(columns[0], byte(shared))
		columns[1] = append(columns[1], byte(len(token)-shared))
		columns[2] = append(columns[2], byte(split))
		columns[3] = append(columns[3], byte(rank))
		columns[4] = append(columns[4], byte(rank>>8))
		columns[5] = append(columns[5], byte(rank>>16))
		rest = append(rest, token[shared:]...)
		previous = token
	}
	out := []byte(magic)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(tokens)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(rest)))
	for _, column := range columns {
		out = append(out, column...)
	}
	return append(out, rest...), nil
}

func sharedPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// lastMerge merges the token's own bytes as the encoder would and returns where the last merge splits it, or 0 if that does
// not give the token.
func lastMerge(ranks map[string]int, token []byte) int {
	starts := make([]int, len(token)+1)
	for i := range starts {
		starts[i] = i
	}
	for len(starts) > 3 {
		best, at := math.MaxInt, -1
		for i := 0; i+2 < len(starts); i++ {
			if rank, ok := ranks[string(token[starts[i]:starts[i+2]])]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return 0
		}
		starts = slices.Delete(starts, at+1, at+2)
	}
	if len(starts) == 3 {
		return starts[1]
	}
	return 0
}
