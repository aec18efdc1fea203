// Package main answers questions with the code of the repository that it is built in: a JSON line in, a JSON line out.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type question struct {
	Ask   string          `json:"ask"`
	Given json.RawMessage `json:"given"`
}

// answered makes a function of one type of question one of any.
func answered[T any](answer func(T) (any, error)) func(json.RawMessage) (any, error) {
	return func(raw json.RawMessage) (any, error) {
		var given T
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, err
		}
		return answer(given)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer, err := answers[asked.Ask](asked.Given)
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		if err := encoder.Encode(answer); err != nil {
			panic(err)
		}
	}
}
