// Package storetest holds the rules of package store as tests. A backend is one that
// passes them:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t storetest.T) store.Store { ... })
//	}
//
// [Run] covers what a backend can do beyond a [store.Store] too, such as
// [store.Deleter]; what it cannot do is skipped. [Differential] runs random operations
// on two backends and compares all that can be seen of them. [Op] and [Diff] are
// what it is made of, for tests of a backend's own, such as what is left after a crash.
//
// The package is meant for tests only.
package storetest
