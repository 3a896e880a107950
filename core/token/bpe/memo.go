package bpe

import "sync"

// longText is the length in bytes from which looking a text up is much cheaper than counting it.
const longText = 256

// A memo holds the counts of long texts. It keeps the texts alive.
type memo struct {
	mu     sync.Mutex
	counts map[string]int
}

// Remembering returns an encoding that shares e's tables and counts each long text once. It is for a host that measures the
// same conversation again and again, such as a replay of one session under several policies; the texts it has seen live as
// long as it does.
func (e *Encoding) Remembering() *Encoding {
	twin := *e
	twin.memo = &memo{counts: map[string]int{}}
	return &twin
}

// recall returns the count of s, from memory if it is there.
func (e *Encoding) recall(s string) int {
	e.memo.mu.Lock()
	n, ok := e.memo.counts[s]
	e.memo.mu.Unlock()
	if ok {
		return n
	}
	n = e.countString(s)
	e.memo.mu.Lock()
	e.memo.counts[s] = n
	e.memo.mu.Unlock()
	return n
}
