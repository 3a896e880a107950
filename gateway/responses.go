package gateway

import (
	"context"
	"sync"
)

// mostRecalled is how much of responses is kept in memory, in bytes. A request that goes on with
// one needs all those before it.
const mostRecalled = 32 << 20

// responses are those that were read from the store, by their names there, for as long as nobody
// else has written to it.
type responses struct {
	mu      sync.Mutex
	byName  map[string]response
	bytes   int
	others  int64 // what the store said of other processes when they were read
	changes int   // how often one has got another meaning
}

// recalled is response, which asks the store only for what is not in memory. others is what the
// store says of other processes now; 0: that is not known.
func (g *Gateway) recalled(ctx context.Context, c Call, id string, others int64) (response, error) {
	name := responseName(c, id)
	found, ok, changes := g.responses.get(name, others)
	if ok {
		return found, nil
	}
	r, err := g.response(ctx, c, id)
	if err == nil {
		g.responses.put(name, r, others, changes)
	}
	return r, err
}

// get returns a response, if it is there, and a number for put.
func (r *responses) get(name string, others int64) (found response, ok bool, changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if others != 0 && others == r.others {
		found, ok = r.byName[name]
	}
	return found, ok, r.changes
}

// put takes in what was read since get, unless something has got another meaning meanwhile.
func (r *responses) put(name string, read response, others int64, changes int) {
	size := len(name)
	for _, item := range read.items {
		size += len(item)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if others == 0 || changes != r.changes {
		return
	}
	if others != r.others || r.byName == nil || r.bytes+size > mostRecalled {
		r.byName, r.bytes, r.others = map[string]response{}, 0, others
	}
	r.byName[name] = read
	r.bytes += size
}

// forget lets go of one that means something else.
func (r *responses) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	delete(r.byName, name)
}
