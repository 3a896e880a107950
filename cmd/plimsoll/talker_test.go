package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// talker is an agent of a loop that asks a model as often as it is told, each time with its
// whole history. It knows of the proxy by the variables of the providers' SDKs, or by an
// argument behind the number.
func talker() {
	prompt, _ := io.ReadAll(os.Stdin)
	times, _ := strconv.Atoi(os.Args[1])
	url := os.Getenv("OPENAI_BASE_URL")
	if len(os.Args) > 2 {
		url = os.Args[2] + "/v1"
	}
	history := []string{fmt.Sprintf(`{"role":"user","content":%q}`, prompt)}
	for i := range times {
		body := `{"model":"gpt-5-mini","max_completion_tokens":100,"messages":[` + strings.Join(history, ",") + `]}`
		resp, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			fmt.Printf("%d %s\n", resp.StatusCode, text)
			os.Exit(1)
		}
		page := strings.Repeat(fmt.Sprintf("page %d of the book. ", i), 150)
		history = append(history, `{"role":"assistant","content":"Read on."}`, fmt.Sprintf(`{"role":"user","content":%q}`, page))
	}
	fmt.Printf("<progress>read %d pages in process %d</progress>\n", times, os.Getpid())
	if _, err := os.Stat("last"); err == nil {
		fmt.Println("<promise>COMPLETE</promise>")
	}
	_ = os.WriteFile("last", nil, 0o600)
	os.Exit(0)
}
