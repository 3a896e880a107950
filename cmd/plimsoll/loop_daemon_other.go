//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

// detach refuses.
func detach(*exec.Cmd) error { return errors.New("not on this system") }
