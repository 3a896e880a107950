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
	b := newBuilder(columns)
	for n := range b.count {
		if err := b.add(n); err != nil {
			return vocabulary{}, err
		}
	}
	for id := range uint32(b.count) {
		b.insert(id)
	}
	for n := range b.count {
		if err := b.halve(n); err != nil {
			return vocabulary{}, err
		}
	}
	for id := range uint32(b.count) {
		b.pair(id)
	}
	for c, id := range b.v.single {
		if id >= 0x100 { // search relies on it: bytes rank before all merges
			return vocabulary{}, fmt.Errorf("unpack: bytes, want a token below 256 for each, got %d for 0x%02X", id, c)
		}
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
	prior [256]uint32 // by length: the longest token that is a prefix of at most that length
	free  uint32      // next number for a node that is no token
	last  int         // where the newest token starts
}

func newBuilder(columns packed) *builder {
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
	b := &builder{packed: columns, free: uint32(columns.count)}
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

		maybeShort: newFilter(sizes[0]),
		maybeMid:   newFilter(sizes[1]),
		maybeDeep:  newFilter(deep),
		maybePair:  newFilter(columns.count),
	}
	b.prior[0], b.node[0] = none, none
	fill(b.v.single[:], none)
	fill(b.v.double, none)
	return b
}

// slots returns the size of a hash table for n entries: a power of two, at most four fifths full.
func slots(n int) int { return 1 << bits.Len(uint(n+n/4)) }

// newFilter returns a filter for n keys, of six to thirteen bits a key.
func newFilter(n int) filter { return make(filter, max(1, slots(n)/8)) }

// id returns the id of the n-th token in byte order.
func (b *builder) id(n int) uint32 {
	return uint32(b.rank[0][n]) | uint32(b.rank[1][n])<<8 | uint32(b.rank[2][n])<<16
}

// add enters the bytes and the prefixes of the n-th token in byte order, and the left half of its last merge.
func (b *builder) add(n int) error {
	id, at := b.id(n), len(b.v.bytes)
	shared, fresh, split := int(b.shared[n]), int(b.fresh[n]), int(b.split[n])
	length := shared + fresh
	if int(id) >= b.count || b.v.spans[id] != 0 || fresh == 0 || fresh > len(b.rest) || length > 0xFF || shared > at-b.last {
		return fmt.Errorf("unpack: token %d, want a fresh id below %d and 1..255 bytes, got id %d, %d+%d bytes",
			n, b.count, id, shared, fresh)
	}
	b.v.bytes = append(b.v.bytes, b.v.bytes[b.last:b.last+shared]...)
	b.last = at
	b.v.bytes = append(b.v.bytes, b.rest[:fresh]...)
	b.rest = b.rest[fresh:]
	b.v.spans[id] = uint32(at<<8 | length)
	b.extend(b.v.bytes[at:], shared, id)
	left := b.node[split]
	if split >= length || left != none && int(left) >= b.count {
		return fmt.Errorf("unpack: token %d, want a token on the left of its last merge, got none at %d", id, split)
	}
	b.v.parts[id] = pair{left, none}
	return nil
}

// insert enters a token in the table for its length.
func (b *builder) insert(id uint32) {
	v := &b.v
	token := v.token(id)
	switch n := len(token); {
	case n <= 7:
		key, mask := shortKey(wordAt(token, 0, n), n), len(v.short)-1
		at := int(hash64(key)) & mask
		for v.short[at] != 0 {
			at = (at + 1) & mask
		}
		v.short[at], v.shortIDs[at] = key, id
		v.maybeShort.add(hash64(key))
		switch n {
		case 1:
			v.single[token[0]] = id
		case 2:
			v.double[int(token[0])<<8|int(token[1])] = id
		}
	case n <= 15:
		key, mask := midKeyAt(token, 0, n), len(v.mid)-1
		at := int(key.hash()) & mask
		for v.mid[at].tail != 0 {
			at = (at + 1) & mask
		}
		v.mid[at], v.midIDs[at] = key, id
		v.maybeMid.add(key.hash())
	default:
		hash := hashLong(token)
		set(v.long, hash, hash>>32<<32|uint64(id+1))
	}
}

// halve finds the right half of the last merge of the n-th token in byte order.
func (b *builder) halve(n int) error {
	id := b.id(n)
	at := int(b.split[n])
	token := b.v.token(id)
	if at == 0 && len(token) == 1 {
		return nil
	}
	right := b.v.find(token, at, len(token))
	if at == 0 || right == none {
		return fmt.Errorf("unpack: token %d, want a token on the right of its last merge, got none at %d", id, at)
	}
	b.v.parts[id].right = right
	return nil
}

// pair enters the last merge of a token.
func (b *builder) pair(id uint32) {
	if p := b.v.parts[id]; p.left != none {
		key := uint64(p.left)<<idBits | uint64(p.right)
		set(b.v.pairs, hash64(key), key<<idBits|uint64(id))
		b.v.maybePair.add(hash64(key))
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

func fill(table []uint32, value uint32) {
	for n := range table {
		table[n] = value
	}
}

// set puts a value in the first free slot from hash on.
func set(table []uint64, hash, value uint64) {
	mask := uint64(len(table) - 1)
	for table[hash&mask] != 0 {
		hash++
	}
	table[hash&mask] = value
}
