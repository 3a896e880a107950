package loop

// How much is kept of an iteration, in characters, as its document says.
const (
	maxPrompt = 500
	maxOutput = 5000
)

// How much else is kept.
const (
	maxMarkers = 20  // of an iteration
	maxMarker  = 300 // characters
	maxFiles   = 50  // paths of an iteration
	maxPath    = 500 // characters
	maxEvents  = 100 // of the loop, the newest
	maxName    = 200 // characters of a CLI, a model, a fault
)

// A Task is what the loop works on.
type Task struct {
	ID   string `json:"id"`
	Goal string `json:"goal"` // whole; a prompt shows at most 1,000 tokens of it
}

// An IterationContext is what is kept of one run of the agent.
type IterationContext struct {
	Number          int      `json:"iteration_number"` // from 1
	Began           int64    `json:"timestamp"`        // in milliseconds since 1970
	CLI             string   `json:"cli_used"`
	Model           string   `json:"model_used"`
	Prompt          string   `json:"prompt"` // its first 500 characters
	Output          string   `json:"output"` // the first 5,000 characters of the agent's own words
	ProgressScore   int      `json:"progress_score"`
	ProgressMarkers []string `json:"progress_markers,omitempty"`
	FileChanges     []string `json:"file_changes,omitempty"` // paths, each once
	Duration        int64    `json:"duration"`               // in milliseconds

	Fault       string `json:"fault,omitempty"`       // what went wrong with the run, such as its exit code; empty: nothing
	Interrupted bool   `json:"interrupted,omitempty"` // it did not get to its end
	PromptSize  int    `json:"prompt_tokens"`         // of the whole prompt
}

// A LoopContext is all that later prompts are made of.
type LoopContext struct {
	Task            Task               `json:"task"`
	Iterations      []IterationContext `json:"iterations"` // those that are shown raw: pending ones, then the window
	Summary         string             `json:"summary"`    // of all before
	TotalIterations int                `json:"total_iterations"`
	StartTime       int64              `json:"start_time"` // in milliseconds since 1970; 0: nothing has begun
	CurrentCLI      string             `json:"current_cli"`
	CurrentModel    string             `json:"current_model"`
	EnvSnapshot     map[string]string  `json:"env_snapshot,omitempty"` // as the host last told it, which leaves out secrets
	FileEvents      []FileEvent        `json:"file_events,omitempty"`  // the newest hundred, as the host told them
}

// A FileEvent is a change of a file in the workspace.
type FileEvent struct {
	At    int64  `json:"at"` // in milliseconds since 1970
	Path  string `json:"path"`
	Op    string `json:"op"`    // created, modified, deleted, renamed
	Lines int    `json:"lines"` // added and removed, as far as the host knows; a change has at least one
}

// Folded returns how many iterations the summary stands for: 1 to this one.
func (c LoopContext) Folded() int { return c.TotalIterations - len(c.Iterations) }
