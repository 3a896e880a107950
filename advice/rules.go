package advice

// Most is how many findings a session has at most.
const Most = 5

// A Rule says from which figure on something is worth saying, and how it is said. Text, Do and
// Command have placeholders in braces, which the measure fills; a line whose placeholder has
// no value is left out.
type Rule struct {
	Name    string
	Measure Measure
	Least   int64 // of the measure's figure, in its unit
	First   bool  // stands before what is ordered by cost: how the session ended
	Text    string
	Do      string
	Command string
}

// A Measure names what a rule looks at.
type Measure string

// The measures, with the unit of their figures.
const (
	RefusedLength Measure = "refused_length" // 1 if the last call was refused for its length
	RefusedElse   Measure = "refused_else"   // 1 if it was refused, or failed, for another reason
	Full          Measure = "full"           // permille of the window that the last prompt takes
	Fits          Measure = "fits"           // 1 if a policy could have sent what was refused
	Saving        Measure = "saving"         // permille of what the client paid that a policy saves
	OneTool       Measure = "one_tool"       // permille of all tokens sent that are outputs of one tool
	WholeFiles    Measure = "whole_files"    // thousandths of a dollar that the dearest file read without a range cost
	Again         Measure = "again"          // permille of all tokens sent that were shown before
	Lapsed        Measure = "lapsed"         // permille of all costs that lapsed caches cost
	Changed       Measure = "changed"        // permille of all costs that changes before the conversation cost
	ColdCut       Measure = "cold_cut"       // thousandths of a dollar that compactions of a cold prompt cost
	HiddenPart    Measure = "hidden_part"    // permille of the window that the client's own part takes
	Pictures      Measure = "pictures"       // permille of the last prompt that are images and files
)

// replayOne shows what the policy of a finding would have sent.
const replayOne = "plimsoll replay {path} --policy off --policy {policy} --window model"

// Rules are the rules, in the order in which equal ones stand.
func Rules() []Rule { return append(endings(), costs()...) }

// endings are about how a session ended, and what may end it next.
func endings() []Rule {
	return []Rule{
		{
			Name: "too-long", Measure: RefusedLength, Least: 1, First: true,
			Text:    "call {call} was refused for its length{figures}",
			Do:      "to go on in {client}: {resume}",
			Command: "{goon}",
		},
		{
			Name: "refused", Measure: RefusedElse, Least: 1, First: true,
			Text:    "the last call was refused: {class}; nothing of the session is lost",
			Do:      "{wait}, then go on in {client}{again}",
			Command: "{goon}",
		},
		{
			Name: "would-fit", Measure: Fits, Least: 1, First: true,
			Text:    "under {policy} it would have gone on: its largest call would have been {peak} tokens, of {limit} that it may have",
			Do:      "run the agent through plimsoll proxy, which keeps every call within its window",
			Command: replayOne,
		},
		{
			Name: "nearly-full", Measure: Full, Least: 850, First: true,
			Text:    "the last prompt takes {share} of the window of {window}: about {left} are left at this rate",
			Do:      "before the next task: {compact}",
			Command: "plimsoll inspect {path} --step {step}",
		},
	}
}

// costs are about what took more than it had to.
func costs() []Rule {
	return []Rule{
		{
			Name: "cheaper", Measure: Saving, Least: 100,
			Text:    "under {policy} the same calls would have cost {cost} of the {paid} that they did",
			Do:      "run the agent through plimsoll proxy",
			Command: replayOne,
		},
		{
			Name: "one-tool", Measure: OneTool, Least: 300,
			Text:    "{share} of all tokens sent were outputs of {tool}: {outputs}, {cost}",
			Do:      "ask for less at a time ({narrow}), or cap outputs: balanced does",
			Command: "plimsoll inspect {path} --top 20",
		},
		{
			Name: "whole-files", Measure: WholeFiles, Least: 250,
			Text: "{files} of files read without a range cost {each}, carried through about {steps}: {names}",
			Do:   "read the lines that matter (offset and limit), or search first",
		},
		{
			Name: "shown-again", Measure: Again, Least: 50,
			Text:    "{share} of all tokens sent had been shown before in the same context{cost}; the most: {tool} at line {line}, shown at line {earlier}",
			Do:      "balanced leaves out what is still in view",
			Command: replayOne,
		},
		{
			Name: "went-cold", Measure: Lapsed, Least: 50,
			Text: "the provider's cache lapsed {times} between calls: {tokens} tokens were sent at full price again, {cost}",
			Do:   "before a longer pause let it finish what it is at, or compact: a smaller prompt costs less to send anew",
		},
		{
			Name: "changed-front", Measure: Changed, Least: 50,
			Text: "{times} nothing of the conversation was read from the cache, and no pause explains that: {cost}",
			Do:   "something before it had changed, or the provider dropped it early: keep tools, MCP servers, memory and settings the same through a session",
		},
		{
			Name: "cold-compaction", Measure: ColdCut, Least: 50,
			Text: "compacted at {share} of the window, {late} after the cache went cold: {cost}",
			Do:   "compact before a pause, not after it",
		},
		{
			Name: "own-part", Measure: HiddenPart, Least: 200,
			Text: "{tokens} tokens or more of every prompt, {share} of the window, are not in the file: the client's system prompt, tools and memory",
			Do:   "take out MCP servers and memory files that this work does not need{own}",
		},
		{
			Name: "pictures", Measure: Pictures, Least: 200,
			Text:    "images and files take {share} of the last prompt, {tokens} tokens",
			Do:      "smaller pictures cost less: tokens grow with their area",
			Command: "plimsoll inspect {path} --step {step}",
		},
	}
}

// A client is what is known of how a client's sessions are gone on with.
type client struct {
	command string // that goes on with the session; {id} is the session's
	resume  string // what to do then, after a refusal for length
	compact string // summarises the conversation
	own     string // shows what it sends itself
}

// clients are those whose commands are known, by the name of Report.Client.
var clients = map[string]client{
	"claude-code": {"claude --resume {id}", "Esc twice to go back to an earlier message, then /compact", "/compact", ": /context lists them"},
	"codex":       {"codex resume {id}", "Esc twice to go back to an earlier message, then /compact", "/compact", ""},
	"gemini-cli":  {"gemini --resume {id}", "/compress", "/compress", ""},
	"qwen-code":   {"qwen --resume {id}", "/compress", "/compress", ""},
	"opencode":    {"opencode --session {id}", "/compact", "/compact", ""},
	"pi":          {"pi --session {path}", "/compact", "/compact", ""},
	"copilot-cli": {"copilot --resume", "/compact", "/compact", ""},
	"cline":       {"", "/newtask takes what matters over to a new task", "/smol", ""},
	"aider":       {"", "/drop files that are not needed, or /clear, and ask again", "/clear", ""},
}

// runners are programs without anybody who could go on in them.
var runners = []string{"swe-agent", "mini-swe-agent", "inspect", "openhands", "tau-bench"}

// runner is what helps with one of these.
var runner = client{"", "run it again, with shorter outputs or a model with a larger window", "shorter outputs, or a model with a larger window", ""}

// anyClient is what helps with a client of which nothing is known.
var anyClient = client{"", "summarise what is done so far and begin a new session with that", "summarise, or begin a new session", ""}
