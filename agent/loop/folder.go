package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"
)

// FolderName is the folder in a workspace by which a person speaks to the loop in it.
const FolderName = ".plimsoll"

// What is in it.
const (
	lockFile    = "lock"
	stopFile    = "stop"
	pauseFile   = "pause"
	logFile     = "log"
	inboxFolder = "inbox"
	doneFolder  = "inbox/processed"
)

// A Holder is the process that runs the loop in a workspace.
type Holder struct {
	Loop  string    `json:"loop"`
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// A BusyError says that a loop runs in the workspace already.
type BusyError struct {
	Workspace string
	Holder    Holder // empty where the lock does not say
}

// Error implements error.
func (e *BusyError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("loop: %s: want no other loop in the workspace, got one that does not say which", e.Workspace)
	}
	h := e.Holder
	return fmt.Sprintf("loop: %s: want no other loop in the workspace, got %s, process %d on %s, since %s",
		e.Workspace, h.Loop, h.PID, h.Host, h.Since.UTC().Format(time.DateTime))
}

// A folder is the state folder of a workspace. Nothing outside of it is read or written,
// whatever links are in it.
type folder struct {
	workspace string
	root      *os.Root
	lock      *os.File // nil: not held
}

// openFolder opens the state folder, which is made if it is not there.
func openFolder(workspace string) (*folder, error) {
	above, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("loop: workspace: %w", err)
	}
	defer above.Close() //nolint:errcheck // only read
	if err := above.Mkdir(FolderName, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("loop: workspace: %w", err)
	}
	switch info, err := above.Lstat(FolderName); {
	case err != nil:
		return nil, fmt.Errorf("loop: workspace: %w", err)
	case !info.IsDir(): // a link could lead out of the workspace
		return nil, fmt.Errorf("loop: workspace: %s, want a folder, got a file of mode %s", filepath.Join(workspace, FolderName), info.Mode())
	}
	root, err := above.OpenRoot(FolderName)
	if err != nil {
		return nil, fmt.Errorf("loop: workspace: %w", err)
	}
	return &folder{workspace: workspace, root: root}, nil
}

// hold takes the lock of the workspace, which ends with the process at the latest.
func (f *folder) hold(h Holder) error {
	file, err := f.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("loop: workspace: %s: %w", f.workspace, err)
	}
	if err := takeLock(file, func() { time.Sleep(lockPause) }); err != nil {
		defer file.Close() //nolint:errcheck // only read
		if !errors.Is(err, errLocked) {
			return fmt.Errorf("loop: workspace: %s: lock: %w", f.workspace, err)
		}
		return &BusyError{Workspace: f.workspace, Holder: holderIn(file)}
	}
	text, err := json.Marshal(h)
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("loop: workspace: %s: lock: %w", f.workspace, err), file.Close())
	}
	f.lock = file
	// Version control need not see the folder. Whoever wants it to has a file of his own.
	if ignore, err := f.root.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, err = io.WriteString(ignore, "*\n")
		return errors.Join(err, ignore.Close())
	}
	return nil
}

// How often, and how far apart, a lock is tried for that somebody only looks at.
const (
	lockTries = 1000
	lockPause = time.Millisecond
)

// takeLock takes the lock of a file. Who only looks at it shares it for an instant, so where
// it can be shared, nobody holds it, and it is tried again after a wait.
func takeLock(file *os.File, wait func()) error {
	for range lockTries {
		err := tryLock(file)
		if !errors.Is(err, errLocked) {
			return err
		}
		if err := shareLock(file); err != nil {
			return err
		}
		if err := freeLock(file); err != nil {
			return err
		}
		wait()
	}
	return errLocked
}

// holderIn reads who holds the lock.
func holderIn(file *os.File) Holder {
	var h Holder
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 4096))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return Holder{}
	}
	return h
}

// HolderOf returns who runs a loop in a workspace; ok is false if nobody does. A loop that
// begins meanwhile is not in its way.
func HolderOf(workspace string) (h Holder, ok bool, err error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return h, false, fmt.Errorf("loop: workspace: %w", err)
	}
	defer root.Close() //nolint:errcheck // only read
	file, err := root.OpenFile(path.Join(FolderName, lockFile), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, fmt.Errorf("loop: workspace: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	if err := shareLock(file); !errors.Is(err, errLocked) {
		return h, false, err
	}
	return holderIn(file), true, nil
}

// Log opens the file in the folder of a workspace that a loop in the background prints to.
func Log(workspace string) (*os.File, error) {
	f, err := openFolder(workspace)
	if err != nil {
		return nil, err
	}
	defer f.root.Close() //nolint:errcheck // only read
	file, err := f.root.OpenFile(logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("loop: workspace: %w", err)
	}
	return file, nil
}

// close lets go of the lock.
func (f *folder) close() error {
	var err error
	if f.lock != nil {
		err = f.lock.Close()
	}
	return errors.Join(err, f.root.Close())
}

// has reports whether something of that name is in the folder.
func (f *folder) has(name string) bool {
	_, err := f.root.Lstat(name)
	return err == nil
}

// remove takes a name away; that it is not there is as good.
func (f *folder) remove(name string) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("loop: %s: %w", FolderName, err)
	}
	return nil
}

// read returns the beginning of a file: so many bytes at most.
func (f *folder) read(name string, most int64) ([]byte, error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(file, most))
}
