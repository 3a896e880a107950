package bpe

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// magic opens every packed vocabulary; internal/genvocab/pack.go describes the format.
const magic = "PLMBPE1\n"

// packed is the columns of a packed vocabulary: tokens in byte order.
type packed struct {
	count  int
	shared []byte // bytes in common with the token before
	fresh  []byte // bytes that follow those
	split  []byte // length of the left half of the last merge; 0 for single bytes
	rank   [3][]byte
	rest   []byte // the fresh bytes
}

// unpack decompresses a vocabulary and builds its tables.
func unpack(data []byte) (vocabulary, error) {
	columns, err := inflate(data)
	if err != nil {
		return vocabulary{}, err
	}
	b, err := newBuilder(columns)
	if err != nil {
		return vocabulary{}, err
	}
	for n := range columns.count {
		if err := b.add(n); err != nil {
			return vocabulary{}, err
		}
	}
	if err := b.link(); err != nil {
		return vocabulary{}, err
	}
	return b.v, nil
}

// inflate decompresses the data and cuts it into its columns.
func inflate(data []byte) (packed, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return packed{}, fmt.Errorf("inflate: %w", err)
	}
	var body bytes.Buffer
	if len(data) >= 4 { // the gzip trailer holds the size (RFC 1952, ISIZE); no more than a hint here
		body.Grow(int(binary.LittleEndian.Uint32(data[len(data)-4:])&0xFFFFFF) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(zipped); err != nil {
		return packed{}, fmt.Errorf("inflate: %w", err)
	}
	raw, ok := bytes.CutPrefix(body.Bytes(), []byte(magic))
	if !ok || len(raw) < 8 {
		return packed{}, fmt.Errorf("inflate: header, want %q and two sizes, got %d bytes", magic, body.Len())
	}
	count, rest := int(binary.LittleEndian.Uint32(raw)), int(binary.LittleEndian.Uint32(raw[4:]))
	raw = raw[8:]
	if len(raw) != 6*count+rest || count >= 1<<idBits || count+rest >= 1<<nodeBits {
		return packed{}, fmt.Errorf("inflate: columns, want %d tokens and %d bytes in range, got %d bytes", count, rest, len(raw))
	}
	column := func(n int) []byte { return raw[n*count : (n+1)*count] }
	return packed{
		count: count, shared: column(0), fresh: column(1), split: column(2),
		rank: [3][]byte{column(3), column(4), column(5)}, rest: raw[6*count:],
	}, nil
}

// builder fills a vocabulary's tables from tokens in byte order.
type builder struct {
	packed
	v     vocabulary
	node  [256]uint32 // by length: the node of that prefix of the newest token
	prior [256]uint32 // by length: the longest mergeable token that is a prefix of at most that length
	free  uint32      // next number for a node that is no token
	split []byte      // by id
}

func newBuilder(columns packed) (*builder, error) {
	total, deep, edges := 0, 0, 0
	var sizes [3]int // tokens of 1..7, 8..15, more bytes
	for n := range columns.count {
		length := int(columns.shared[n]) + int(columns.fresh[n])
		total += length
		sizes[min(2, length/8)]++
		if shared := int(columns.shared[n]); length >= 8 {
			if shared < 8 {
				deep++
			}
			edges += length - max(8, shared)
		}
	}
	b := &builder{packed: columns, free: uint32(columns.count), split: make([]byte, columns.count)}
	b.v = vocabulary{
		bytes: make([]byte, 0, total),
		spans: make([]uint32, columns.count),
		parts: make([]pair, columns.count),
		short: make([]uint64, slots(sizes[0])), shortIDs: make([]uint32, slots(sizes[0])),
		mid: make([]midKey, slots(sizes[1])), midIDs: make([]uint32, slots(sizes[1])),
		long:   make([]uint64, slots(sizes[2])),
		pairs:  make([]uint64, slots(columns.count)),
		double: make([]uint32, 1<<16),
		deep:   make([]uint64, slots(deep)), deepNode: make([]uint32, slots(deep)),
		edges: make([]uint64, slots(edges)),
		prior: make([]uint32, columns.count),

		maybeShort: make(filter, slots(sizes[0])/16),
		maybeDeep:  make(filter, slots(deep)/16),
		maybePair:  make(filter, slots(columns.count)/16),
	}
	b.prior[0] = none
	return b, nil
}

// slots returns the size of a hash table for n entries: a power of two, at most 62.5 % full.
func slots(n int) int { return 1 << bits.Len(uint(n+n*3/5)) }

// add enters the n-th token in byte order.
func (b *builder) add(n int) error {
	id := uint32(b.rank[0][n]) | uint32(b.rank[1][n])<<8 | uint32(b.rank[2][n])<<16
	shared, fresh := int(b.shared[n]), int(b.fresh[n])
	length := shared + fresh
	if int(id) >= b.count || b.v.spans[id] != 0 || fresh == 0 || fresh > len(b.rest) || length > 0xFF {
		return fmt.Errorf("unpack: token %d, want a fresh id below %d and 1..255 bytes, got id %d, %d+%d bytes",
			n, b.count, id, shared, fresh)
	}
	at := len(b.v.bytes)
	if n > 0 {
		previous := at - int(b.packed.shared[n-1]) - int(b.fresh[n-1])
		b.v.bytes = append(b.v.bytes, b.v.bytes[previous:previous+shared]...)
	}
	b.v.bytes = append(b.v.bytes, b.rest[:fresh]...)
	b.rest = b.rest[fresh:]
	b.v.spans[id] = uint32(at<<8 | length)
	b.split[id] = b.packed.split[n]
	token := b.v.bytes[at:]
	b.extend(token, shared, id)
	return nil
}

// insert enters the token in the table for its length.
func (b *builder) insert(token []byte, id uint32) {
	v := &b.v
	switch n := len(token); {
	case n <= 7:
		key, mask := shortKey(wordAt(token, 0, n), n), len(v.short)-1
		at := int(hash64(key)) & mask
		for v.short[at] != 0 {
			at = (at + 1) & mask
		}
		v.short[at], v.shortIDs[at] = key, id
		v.maybeShort.add(hash64(key))
	case n <= 15:
		key, mask := midKey{wordAt(token, 0, 8), shortKey(wordAt(token, 8, n-8), n)}, len(v.mid)-1
		at := int(key.hash()) & mask
		for v.mid[at].tail != 0 {
			at = (at + 1) & mask
		}
		v.mid[at], v.midIDs[at] = key, id
	default:
		hash := hashLong(token)
		set(v.long, hash, hash>>32<<32|uint64(id+1))
	}
}

// extend enters the token's prefixes of eight bytes and more that the one before it did not have. A token's node is its
// id, every other prefix has a number from the count of tokens up.
func (b *builder) extend(token []byte, shared int, id uint32) {
	for n := shared + 1; n <= len(token); n++ {
		node := id
		if n < len(token) {
			node = b.free
			b.free++
		}
		switch {
		case n == 8:
			b.setDeep(^wordAt(token, 0, 8), node)
		case n > 8:
			key := uint64(b.node[n-1])<<8 | uint64(token[n-1])
			set(b.v.edges, hash64(key), key<<nodeBits|uint64(node))
		}
		b.node[n] = node
		b.prior[n] = b.prior[n-1]
	}
	b.v.prior[id] = b.prior[len(token)-1]
	b.prior[len(token)] = id
}

func (b *builder) setDeep(key uint64, node uint32) {
	v := &b.v
	hash, mask := hash64(key), len(v.deep)-1
	at := int(hash) & mask
	for v.deep[at] != 0 {
		at = (at + 1) & mask
	}
	v.deep[at], v.deepNode[at] = key, node
	v.maybeDeep.add(hash)
}

// link finds the halves of every token's last merge.
func (b *builder) link() error {
	for id := range uint32(b.count) {
		b.insert(b.v.token(id), id)
	}
	for id := range uint32(b.count) {
		token, at := b.v.token(id), int(b.split[id])
		if len(token) == 1 {
			b.v.parts[id] = pair{none, none}
			continue
		}
		if at == 0 || at >= len(token) {
			return fmt.Errorf("unpack: token %d, want a merge inside its %d bytes, got one at %d", id, len(token), at)
		}
		left, right := b.v.find(token, 0, at), b.v.find(token, at, len(token))
		if left == none || right == none {
			return fmt.Errorf("unpack: token %d, want tokens on both sides of its merge at %d, got none", id, at)
		}
		b.v.parts[id] = pair{left, right}
		key := uint64(left)<<idBits | uint64(right)
		set(b.v.pairs, hash64(key), key<<idBits|uint64(id))
		b.v.maybePair.add(hash64(key))
	}
	for n := range b.v.double {
		b.v.double[n] = b.v.find([]byte{byte(n >> 8), byte(n)}, 0, 2)
	}
	for c := range 0x100 {
		id := b.v.find([]byte{byte(c)}, 0, 1)
		if id >= 0x100 { // merge relies on it: bytes rank before all merges
			return fmt.Errorf("unpack: bytes, want a token below 256 for each, got %d for 0x%02X", id, c)
		}
		b.v.single[c] = id
	}
	return nil
}

// set puts a value in the first free slot from hash on.
func set(table []uint64, hash, value uint64) {
	mask := uint64(len(table) - 1)
	for table[hash&mask] != 0 {
		hash++
	}
	table[hash&mask] = value
}
