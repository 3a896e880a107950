package store_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/store"
)

func TestMemory(t *testing.T) {
	testStore(t, func(testing.TB) store.Store { return new(store.Memory) })
}
