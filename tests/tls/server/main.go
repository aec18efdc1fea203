// Command tlsserver serves one small image index under many TLS configurations, each on a port of its own, and asks each
// with Go's client. It prints one line of JSON with all of them; then, for each line on its standard input, the number of
// requests that Archway sent to each; it ends with its standard input. The argument is the folder that keeps private keys.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"sync"
)

func main() {
	keyFolder = os.Args[1]
	if err := os.MkdirAll(keyFolder, 0o700); err != nil {
		panic(err)
	}
	all := configurations()
	for _, c := range all {
		c.serve()
	}
	askAll(all)
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]any{"proxy": proxy(), "configurations": all})
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		requests := map[string]int64{}
		for _, c := range all {
			requests[c.Name] = c.requests.Load()
		}
		out.Encode(requests)
	}
}

func askAll(all []*configuration) {
	var group sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, c := range all {
		group.Go(func() {
			slots <- struct{}{}
			c.Go = c.ask()
			<-slots
		})
	}
	group.Wait()
}
