package store_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(storetest.T) store.Store { return new(store.Memory) })
}

func TestMemoryDamaged(t *testing.T) {
	storetest.Damaged(t, func(storetest.T) (store.Store, storetest.Damage) {
		m := new(store.Memory)
		return m, store.Corrupt{M: m}
	})
}
