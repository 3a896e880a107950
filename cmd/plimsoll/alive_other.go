//go:build !unix

package main

import "os"

// isAlive reports whether there is a process of a number.
func isAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid) // an error where there is none
	if err != nil {
		return false
	}
	_ = p.Release() // only its number was wanted
	return true
}
