// The program of every test image: one static binary whose first argument says what it does.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const usage = "usage: app pause | sleep | hello | fail | web | get URL | start PROGRAM"

func main() {
	command := "pause"
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "pause":
		untilStopped()
	case "sleep":
		fmt.Println("started on", runtime.GOOS+"/"+runtime.GOARCH)
		untilStopped()
	case "hello":
		fmt.Println("hello from", runtime.GOOS+"/"+runtime.GOARCH)
	case "fail":
		fmt.Println("failing as asked")
		os.Exit(1)
	case "web":
		serve()
	case "get":
		get(os.Args[2])
	case "start":
		start(os.Args[2])
	default:
		fmt.Println(usage)
		os.Exit(2)
	}
}

func untilStopped() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}

func serve() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "web on", runtime.GOARCH)
	})
	exitOn(http.ListenAndServe(":8080", nil))
}

// get prints the status and body of a URL; the API server's certificate is checked against the ServiceAccount's CA.
func get(url string) {
	pool := x509.NewCertPool()
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	if ca, err := os.ReadFile(account + "ca.crt"); err == nil {
		pool.AppendCertsFromPEM(ca)
	}
	client := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
	}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	exitOn(err)
	if token, err := os.ReadFile(account + "token"); err == nil {
		request.Header.Set("Authorization", "Bearer "+string(token))
	}
	response, err := client.Do(request)
	exitOn(err)
	body, err := io.ReadAll(response.Body)
	exitOn(err)
	fmt.Println(response.Status, string(body))
}

// start runs a program again and again: what a container does that starts others after its entry point.
func start(program string) {
	for {
		_, err := syscall.ForkExec(program, []string{program}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
		fmt.Println("start", program, err)
		time.Sleep(time.Second)
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}
