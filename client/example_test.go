package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/plimsoll-dev/plimsoll/client"
)

// Beginnings of prompts that Gemini keeps are remembered between runs of a program, and given up
// at its end.
func ExampleOptions() {
	provider, _ := client.Lookup("gemini")
	provider.KeyOptional = true
	caches := new(client.Caches) // as JSON it outlives the process
	c, err := client.New(provider, client.Options{Caches: caches, OnCache: func(e client.CacheEvent) { log.Println(e.What, e.Resource, e.Err) }})
	if err != nil {
		log.Fatal(err)
	}
	// Requests go through c.Complete or c.Stream here.
	if err := c.DropCaches(context.Background()); err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(caches)
	fmt.Println(string(text), err)
	// Output:
	// {} <nil>
}
