package summary

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A toolKind is what a tool does, as far as the facts care.
type toolKind uint8

const (
	toolUnknown toolKind = iota
	toolRead
	toolWrite // also edits
	toolDelete
	toolMove
	toolEditor // one tool for all of them; an argument says which
	toolShell
	toolPatch
	toolPlan
	toolOther // known, and of no interest: searches, listings
)

// toolKinds are well-known tool names in lower case, without separators and
// without the prefix of a server or namespace.
var toolKinds = map[string]toolKind{
	"read": toolRead, "readfile": toolRead, "readtextfile": toolRead, "readmanyfiles": toolRead,
	"readmultiplefiles": toolRead, "readmediafile": toolRead, "view": toolRead, "viewfile": toolRead,
	"viewimage": toolRead, "cat": toolRead, "open": toolRead, "openfile": toolRead, "notebookread": toolRead,
	"getfilecontents": toolRead,

	"write": toolWrite, "writefile": toolWrite, "writetofile": toolWrite, "createfile": toolWrite,
	"create": toolWrite, "newfile": toolWrite, "savefile": toolWrite, "edit": toolWrite, "editfile": toolWrite,
	"multiedit": toolWrite, "notebookedit": toolWrite, "replace": toolWrite, "replaceinfile": toolWrite,
	"strreplace": toolWrite, "searchreplace": toolWrite, "searchandreplace": toolWrite, "insertcontent": toolWrite,
	"insertedit": toolWrite, "applydiff": toolWrite, "appendfile": toolWrite,

	"delete": toolDelete, "deletefile": toolDelete, "remove": toolDelete, "removefile": toolDelete,
	"move": toolMove, "movefile": toolMove, "rename": toolMove, "renamefile": toolMove,

	"strreplaceeditor": toolEditor, "strreplacebasededittool": toolEditor, "texteditor": toolEditor,

	"bash": toolShell, "shell": toolShell, "localshell": toolShell, "exec": toolShell, "execcommand": toolShell,
	"execute": toolShell, "executecommand": toolShell, "executebash": toolShell, "run": toolShell,
	"runcommand": toolShell, "runshellcommand": toolShell, "runterminalcmd": toolShell,
	"runterminalcommand": toolShell, "runinterminal": toolShell, "terminal": toolShell, "powershell": toolShell,
	"cmdrun": toolShell, "shellcommand": toolShell,

	"applypatch": toolPatch, "patch": toolPatch,

	"todowrite": toolPlan, "updateplan": toolPlan, "writetodos": toolPlan, "updatetodolist": toolPlan,

	"grep": toolOther, "glob": toolOther, "ls": toolOther, "list": toolOther, "listdir": toolOther,
	"listdirectory": toolOther, "listfiles": toolOther, "find": toolOther, "search": toolOther,
	"searchfiles": toolOther, "codebasesearch": toolOther,
}

// editorCommands say what an editor tool does.
var editorCommands = map[string]touchKind{
	"view": reads, "create": writes, "str_replace": writes, "insert": writes, "undo_edit": writes,
}

// Names of arguments in lower case without separators; the first that is present
// counts.
var (
	pathKeys    = []string{"filepath", "path", "targetfile", "absolutepath", "notebookpath", "filename", "file", "relativepath", "uri"}
	pathsKeys   = []string{"paths", "filepaths", "files"}
	commandKeys = []string{"command", "cmd", "script"}
	dirKeys     = []string{"workdir", "cwd", "workingdirectory", "directory", "dirpath", "dir"}
	patchKeys   = []string{"input", "patch", "diff"}
	fromKeys    = []string{"source", "sourcepath", "from", "oldpath", "src"}
	toKeys      = []string{"destination", "destinationpath", "to", "newpath", "dest", "dst"}
	planKeys    = []string{"todos", "plan", "items"}
	oldTextKeys = []string{"oldstring", "oldstr", "oldtext"}
	newTextKeys = []string{"content", "contents", "filetext", "newstring", "newstr", "newtext"}
)

type touchKind uint8

const (
	reads touchKind = iota
	writes
	deletes
)

// A touch is one file that a call means to use.
type touch struct {
	path string
	how  touchKind
}

// An action is what a tool call means to do.
type action struct {
	subject string // one line for people: the command, or tool and path
	key     string // equal for the same attempt made again
	command string // the whole command; empty if it is none
	dir     string
	shell   bool // its output may state an exit code
	touches []touch
	steps   []step // of a plan; nil if it is none
}

// recognise finds out what a call means to do, by the tool's name and else by
// the shape of its arguments.
func recognise(c llm.ToolCall) action {
	name := toolName(c.Name)
	args := argumentsOf(c)
	kind := toolKinds[name]
	if kind == toolUnknown {
		kind = kindByShape(args)
	}
	a := action{key: name + "\x00" + c.Args}
	switch kind {
	case toolShell:
		a.command, a.dir = args.command(commandKeys), oneLine(args.text(dirKeys), maxPath)
		if a.command == "" {
			a.command = args.free
		}
		a.shell = true
		a.touches = patchTouches(a.command)
		a.key = a.dir + "\x00" + a.command
		a.subject = firstLine(a.command)
	case toolPatch:
		a.shell = true
		a.touches = patchTouches(args.patch())
	case toolPlan:
		a.steps = args.steps(planKeys)
	case toolMove:
		a.touches = []touch{{args.path(fromKeys), deletes}, {args.path(toKeys), writes}}
	case toolRead, toolWrite, toolDelete, toolEditor:
		a.touches = fileTouches(kind, args)
	}
	if a.command == "" {
		a.subject = c.Name
		if len(a.touches) > 0 {
			a.subject = c.Name + " " + a.touches[0].path
			a.key = name + "\x00" + a.touches[0].path
		}
	}
	a.subject = oneLine(a.subject, maxSubject)
	return a
}

// kindByShape recognises tools that nobody has heard of by their arguments. A
// path alone says nothing about what is done with it.
func kindByShape(args arguments) toolKind {
	path := args.path(pathKeys) != ""
	switch {
	case strings.Contains(args.patch(), patchBegin):
		return toolPatch
	case path && (args.has(oldTextKeys) || args.has(newTextKeys)):
		return toolWrite
	case !path && args.command(commandKeys[:2]) != "":
		return toolShell
	}
	return toolOther
}

func fileTouches(kind toolKind, args arguments) []touch {
	how := reads
	switch kind {
	case toolWrite:
		how = writes
	case toolDelete:
		how = deletes
	case toolEditor:
		known := false
		if how, known = editorCommands[args.text(commandKeys)]; !known {
			return nil
		}
	}
	if path := args.path(pathKeys); path != "" {
		return []touch{{path, how}}
	}
	var touches []touch
	for _, path := range args.texts(pathsKeys) {
		touches = append(touches, touch{oneLine(path, maxPath), how})
	}
	return touches
}

// toolName returns a tool's name as toolKinds has it.
func toolName(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	return squeeze(name)
}

// The format of the patch tools. Only the lines that name files matter.
const patchBegin = "*** Begin Patch"

var patchLines = []struct {
	prefix string
	how    touchKind
}{
	{"*** Add File: ", writes},
	{"*** Update File: ", writes},
	{"*** Delete File: ", deletes},
	{"*** Move to: ", writes},
}

// patchTouches returns the files that a patch inside a text names.
func patchTouches(text string) []touch {
	_, text, ok := strings.Cut(text, patchBegin)
	if !ok {
		return nil
	}
	var touches []touch
	moved := -1
	for line := range strings.Lines(text) {
		for _, p := range patchLines {
			path, ok := strings.CutPrefix(line, p.prefix)
			if !ok {
				continue
			}
			if p.prefix == "*** Move to: " && moved >= 0 {
				touches[moved].how = deletes
			}
			moved = len(touches)
			touches = append(touches, touch{oneLine(path, maxPath), p.how})
		}
	}
	return touches
}
