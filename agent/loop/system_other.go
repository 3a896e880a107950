//go:build !unix

package loop

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func newGroup(cmd *exec.Cmd) group { return group{cmd} }

// end ends the process and those that it has started, which only the system knows.
func (g group) end(time.Duration) error {
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.cmd.Process.Pid)).Run(); err != nil { //nolint:gosec // a number
		return g.cmd.Process.Kill()
	}
	return nil
}

func (group) kill() {}

// tryLock refuses: without a lock that ends with its process two loops could run in one
// workspace.
func tryLock(*os.File) error { return errors.New("this system has no locks that the loop knows") }

func shareLock(*os.File) error { return nil }

func freeLock(*os.File) error { return nil }
