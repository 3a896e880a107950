//go:build unix

package main

import (
	"errors"
	"syscall"
)

// isAlive reports whether there is a process of a number. One that another user has is.
func isAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
