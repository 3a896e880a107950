package loop

import (
	"os"
	"runtime"
)

// envNames are the variables that are recorded. It is a list of what is known to be no
// secret: whatever else is set may be one.
var envNames = []string{"LANG", "LC_ALL", "SHELL", "TERM", "TZ", "CI", "VIRTUAL_ENV", "GOFLAGS", "NODE_ENV"}

// envSnapshot is what is recorded of the environment.
type envSnapshot map[string]string

// snapshot returns what is recorded of the environment.
func snapshot(workspace string) envSnapshot {
	env := envSnapshot{"os": runtime.GOOS, "arch": runtime.GOARCH, "workspace": workspace}
	for _, name := range envNames {
		if v, ok := os.LookupEnv(name); ok {
			env[name] = v
		}
	}
	return env
}
