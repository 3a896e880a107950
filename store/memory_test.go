package store_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(storetest.T) store.Store { return new(store.Memory) })
}
