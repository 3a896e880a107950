package anthropic

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// A seam implements round.Seam for what Claude Code does with a person's words while a tool
// runs: they stand at the end of the tool's result, in its string or as its last block.
type seam struct{}

// Open implements round.Seam.
func (seam) Open(r llm.ToolResult) (rest llm.ToolResult, words llm.Text, ok bool) {
	last := len(r.Content) - 1
	if last < 0 {
		return r, words, false
	}
	t, isText := r.Content[last].(llm.Text)
	at, ok := wire.Steered(t.Text)
	if !isText || !ok {
		return r, words, false
	}
	output := strings.TrimRight(t.Text[:at], " \t\r\n")
	literal := raw.Quote(output)
	rest = r
	rest.Content = slices.Clone(r.Content[:last])
	switch {
	case output == "" && last == 0: // there is no output beside the words
		return r, words, false
	case output == "":
	case raw.IsObject(t.Data):
		rest.Content = append(rest.Content, llm.Text{Text: output, Raw: llm.Raw{Data: raw.Set(t.Data, "text", literal)}})
	default:
		rest.Content = append(rest.Content, llm.Text{Text: output, Raw: llm.Raw{Data: literal}})
	}
	content := resultContent(rest, true, raw.IsArray(raw.Value(r.Data, "content")))
	rest.Raw = llm.Raw{Data: raw.Set(r.Data, "content", content)}
	words = llm.Text{Text: t.Text[at:]}
	words.Data = textBlock(words.Text, llm.Raw{}, false)
	return rest, words, true
}

// Close implements round.Seam. A mark on either is one on the result.
func (s seam) Close(of, rest llm.ToolResult, words llm.Text) llm.ToolResult {
	was, _, _ := s.Open(of)
	mark := MarkOf(llm.Message{Parts: []llm.Part{rest, words}})
	if !sameSaid(was, rest) {
		words.Raw = llm.Raw{} // it may have to join a string
		of = of.WithContent(append(slices.Clip(rest.Content), words)...)
	}
	if mark != nil && !bytes.Equal(mark, MarkOf(llm.Message{Parts: []llm.Part{of}})) {
		of.Raw, _ = markedRaw(of.Raw, mark)
	}
	return of
}

// Bare implements round.Seam.
func (seam) Bare(block []byte) []byte {
	if !raw.IsObject(block) || !bytes.Contains(block, []byte(cacheControl)) {
		return block
	}
	return raw.Delete(block, cacheControl)
}

func sameSaid(a, b llm.Part) bool {
	return llm.DigestOf(llm.Message{Parts: []llm.Part{a}}) == llm.DigestOf(llm.Message{Parts: []llm.Part{b}})
}
