// What the builder's image of the tests has in place of the machine config operator's program: `create-digest-configmap` writes
// the digest of a build into a ConfigMap, with the rights of the pod's account. The labels are parsed by the function that the
// operator's program calls.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// timeout is for one request: the emulated node shares its machine with much else.
const timeout = time.Minute

func main() {
	if len(os.Args) < 2 || os.Args[1] != "create-digest-configmap" {
		fmt.Println("usage: machine-os-builder create-digest-configmap FLAGS")
		os.Exit(2)
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	name := flags.String("configmap-name", "", "name of the ConfigMap")
	file := flags.String("digestfile", "", "file with the digest")
	namespace := flags.String("namespace", "", "namespace of the ConfigMap")
	labelText := flags.String("labels", "", "labels as KEY=VALUE, separated by commas")
	exitOn(flags.Parse(os.Args[2:]))
	body := must(json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": *name, "labels": must(labels.ConvertSelectorToLabelsMap(*labelText))},
		"data":       map[string]string{"digest": strings.TrimSpace(string(must(os.ReadFile(*file))))},
	}))
	path := "/api/v1/namespaces/" + *namespace + "/configmaps"
	status := callAPI(http.MethodPost, path, body)
	if status == http.StatusConflict {
		status = callAPI(http.MethodPut, path+"/"+*name, body)
	}
	if status != http.StatusCreated && status != http.StatusOK {
		exitOn(fmt.Errorf("the API server answered %d", status))
	}
	fmt.Println("handed over in", *name)
}

func callAPI(method, path string, body []byte) int {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(must(os.ReadFile(account + "ca.crt")))
	client := &http.Client{
		Timeout:   timeout,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
	}
	url := "https://" + os.Getenv("KUBERNETES_SERVICE_HOST") + ":" + os.Getenv("KUBERNETES_SERVICE_PORT") + path
	request := must(http.NewRequest(method, url, bytes.NewReader(body)))
	request.Header.Set("Authorization", "Bearer "+string(must(os.ReadFile(account+"token"))))
	request.Header.Set("Content-Type", "application/json")
	response := must(client.Do(request))
	defer response.Body.Close()
	return response.StatusCode
}

func must[T any](value T, err error) T {
	exitOn(err)
	return value
}

func exitOn(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}
