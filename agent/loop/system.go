package loop

import (
	"errors"
	"os/exec"
)

// markName is the environment variable that an agent and all it starts have: the loop and
// the iteration.
const markName = "PLIMSOLL_LOOP"

// A group is an agent's process with all that it starts.
type group struct{ cmd *exec.Cmd }

// errLocked says that another process has the lock.
var errLocked = errors.New("locked")
