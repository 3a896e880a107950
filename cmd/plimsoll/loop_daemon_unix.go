//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach has a command start in a session of its own.
func detach(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}
