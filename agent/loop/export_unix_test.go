//go:build unix

package loop

// What locks are made of.
var (
	TakeLock  = takeLock
	ShareLock = shareLock
)
