package main

import (
	"os"
	"syscall"
)

// peakKB returns what a program that has ended held in memory at most, in KiB.
func peakKB(s *os.ProcessState) int64 {
	if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
