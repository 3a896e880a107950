package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/budget"
)

const (
	// askWithin is how long a client waits at most for what a provider tells about a model.
	askWithin = 3 * time.Second
	// askAgain is when one that did not tell is asked again.
	askAgain = 10 * time.Minute
	// mostAsked is how many models are remembered.
	mostAsked = 1024
)

// A models is what providers have told about windows of models that nobody here knows. Each is
// asked about once, by the first request that goes there.
type models struct {
	now func() time.Time

	mu   sync.Mutex
	told map[string]*told
}

type told struct {
	once   sync.Once
	window int       // 0: it does not tell
	until  time.Time // when it may be asked again; zero: never
}

func newModels() *models { return &models{now: time.Now, told: map[string]*told{}} }

// window returns the window of a target, as its provider tells it by ask; 0: it does not.
func (m *models) window(ctx context.Context, t budget.Target, ask func(context.Context, string) (int, error)) int {
	m.mu.Lock()
	one := m.told[t.Name()]
	if one == nil || !one.until.IsZero() && m.now().After(one.until) {
		if len(m.told) >= mostAsked {
			clear(m.told)
		}
		one = &told{}
		m.told[t.Name()] = one
	}
	m.mu.Unlock()
	one.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin) // others wait for it, too
		defer cancel()
		window, err := ask(ctx, t.Model)
		m.mu.Lock()
		defer m.mu.Unlock()
		if one.window = window; err != nil {
			one.window, one.until = 0, m.now().Add(askAgain)
		}
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	return one.window
}
