package loop

import (
	"fmt"
	"slices"
	"strings"
)

// An Agent is a command-line program that works on a prompt and ends.
type Agent struct {
	// Name is what prompts, records and the terminal call it, on one line.
	Name string
	// Command is the program and its arguments. In an argument {prompt} stands for the
	// prompt; without one the prompt comes on standard input.
	Command []string
	// Model is the model that it is told to use; empty: its own choice.
	Model string
	// Env are variables that it has beside those of the loop, NAME=VALUE.
	Env []string
	// Answer says where in its output the final answer is; the zero Answer: all of standard
	// output is the agent's words.
	Answer Answer
}

// promptMark stands for the prompt in an argument.
const promptMark = "{prompt}"

// maxArgument is the longest prompt that is handed over as an argument, in bytes: Linux
// takes no argument of 128 KiB or more.
const maxArgument = 128<<10 - 1

// A preset is an agent that is known by name.
type preset struct {
	name    string
	command []string
	model   []string // arguments that name a model, which stands for {model}; behind the command
	answer  Answer
}

// presets are the agents that are known by name, as their own --help describes them. Each
// is told to edit files by itself and reads its prompt from standard input. None is told
// to leave its sandbox.
var presets = []preset{
	{
		name: "claude", command: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"},
		model: []string{"--model", "{model}"}, answer: Answer{Lines: true, Where: "type=result", Text: "result"},
	},
	{
		name: "codex", command: []string{"codex", "exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write"},
		model: []string{"--model", "{model}"}, answer: Answer{Lines: true, Where: "item.type=agent_message", Text: "item.text"},
	},
	{
		name: "gemini", command: []string{"gemini", "--approval-mode", "auto_edit", "--output-format", "json"},
		model: []string{"--model", "{model}"}, answer: Answer{Text: "response"},
	},
	{
		name: "opencode", command: []string{"opencode", "run", "--format", "json"},
		model: []string{"--model", "{model}"}, answer: Answer{Lines: true, Where: "type=text", Text: "part.text"},
	},
	{
		name: "pi", command: []string{"pi", "-p"},
		model: []string{"--model", "{model}"},
	},
}

// Presets returns the names of the agents that are known by name, in their order.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// ParseAgent reads how an agent is named: a preset, as codex; a preset with a model behind
// a colon, as codex:MODEL; or a command line, whose words may stand in quotes.
func ParseAgent(text string) (Agent, error) {
	name, model, _ := strings.Cut(text, ":")
	for _, p := range presets {
		if p.name != name {
			continue
		}
		a := Agent{Name: p.name, Command: slices.Clone(p.command), Model: model, Answer: p.answer}
		if model != "" {
			for _, arg := range p.model {
				a.Command = append(a.Command, strings.ReplaceAll(arg, "{model}", model))
			}
		}
		return a, nil
	}
	words, err := split(text)
	if err != nil {
		return Agent{}, fmt.Errorf("loop: agent %q: %w", text, err)
	}
	if len(words) == 0 || words[0] == "" {
		return Agent{}, fmt.Errorf("loop: agent: want one of %s, or a command, got none", strings.Join(Presets(), ", "))
	}
	return Agent{Name: text, Command: words}, nil
}

// String returns what ParseAgent reads as this agent.
func (a Agent) String() string {
	if a.Model != "" {
		return a.Name + ":" + a.Model
	}
	return a.Name
}

// split returns the words of a command line: blanks part them, quotes keep them together,
// a backslash outside of single quotes takes the next character as it is.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inWord, escaped := rune(0), false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case strings.ContainsRune(" \t\n", r):
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("want each quote closed, got one that is open in %q", line)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// arguments returns the command for a prompt, and what comes on standard input.
func (a Agent) arguments(prompt string) (command []string, input string, err error) {
	input = prompt
	command = slices.Clone(a.Command)
	for i, arg := range command[1:] {
		if !strings.Contains(arg, promptMark) {
			continue
		}
		if len(prompt) > maxArgument {
			return nil, "", fmt.Errorf("loop: agent %s: prompt, want at most %d bytes in an argument, got %d: have it on standard input", a.Name, maxArgument, len(prompt))
		}
		// A prompt never has a NUL, which no argument can hold.
		command[i+1], input = strings.ReplaceAll(arg, promptMark, strings.ReplaceAll(prompt, "\x00", "")), ""
	}
	return command, input, nil
}
