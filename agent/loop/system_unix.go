//go:build unix

package loop

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// newGroup has a command start in a process group of its own.
func newGroup(cmd *exec.Cmd) group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return group{cmd}
}

// end asks the group to end, and has what is left of it killed later.
func (g group) end(grace time.Duration) error {
	pid := g.cmd.Process.Pid
	err := syscall.Kill(-pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	time.AfterFunc(grace, func() { _ = g.cmd.Process.Kill() })
	return err
}

// kill ends what is left of the group. It is called once its first process has been waited
// for: the group keeps its number for as long as a process is in it.
func (g group) kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) } // mostly there is nothing left

// tryLock takes the lock of a file, which the system gives back when the process ends, however
// it ends.
func tryLock(file *os.File) error { return lock(file, syscall.LOCK_EX|syscall.LOCK_NB) }

// shareLock takes a lock that others may have beside it, but for the whole one.
func shareLock(file *os.File) error { return lock(file, syscall.LOCK_SH|syscall.LOCK_NB) }

// freeLock gives a lock back.
func freeLock(file *os.File) error { return lock(file, syscall.LOCK_UN) }

func lock(file *os.File, how int) error {
	err := syscall.Flock(int(file.Fd()), how) //nolint:gosec // a descriptor is small
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
