//go:build !linux

package main

import "os"

// peakKB is measured on Linux alone.
func peakKB(*os.ProcessState) int64 { return 0 }
