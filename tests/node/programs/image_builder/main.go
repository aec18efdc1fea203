// A builder of node images for the tests. It takes the base image for the architecture that it was built for itself, appends a
// layer, pushes, and hands the digest over. It is one static program, because an emulated node runs no program that starts others.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// inputs is where an image that was built has the files that a cluster gave to the build.
const inputs = "/etc/built/inputs"

const usage = "usage: app build | hand-over FLAGS | show"

// timeout is for one request: the emulated node shares its machine with much else.
const timeout = time.Minute

func main() {
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "build":
		build()
	case "hand-over":
		handOver(os.Args[2:])
	case "show":
		show()
	default:
		fmt.Println(usage)
		os.Exit(2)
	}
}

// build pushes the image to TAG and leaves its digest for the next container of the pod.
func build() {
	if !json.Valid(must(os.ReadFile("/etc/containers/policy.json"))) {
		exitOn(fmt.Errorf("/etc/containers/policy.json is no JSON"))
	}
	files := []layerFile{
		{name: "built", mode: 0o755, content: must(os.ReadFile("/app"))},
		{name: "etc/built/arch", mode: 0o644, content: []byte(runtime.GOARCH)},
		{name: "etc/built/Containerfile", mode: 0o644, content: must(os.ReadFile("/tmp/containerfile/Containerfile"))},
		{name: "etc/built/machineconfig.json", mode: 0o644, content: readMachineConfig()},
	}
	files = append(files, readInputs()...)
	from := openRepository(os.Getenv("BASE_OS_IMAGE_PULLSPEC"), os.Getenv("BASE_IMAGE_PULL_CREDS"))
	to := openRepository(os.Getenv("TAG"), os.Getenv("FINAL_IMAGE_PUSH_CREDS"))
	labels := map[string]string{
		"archway.dev.build-key": os.Getenv("BUILD_KEY"),
		"archway.dev.arch":      os.Getenv("ARCH"),
	}
	digest := appendLayer(from, to, newLayer(files), labels)
	exitOn(os.WriteFile("/tmp/done/digestfile", []byte(digest+"\n"), 0o644))
	fmt.Println("pushed", os.Getenv("TAG"), digest)
}

// optionalInputs name the folders that are mounted where a cluster has something for them.
var optionalInputs = []string{"ETC_PKI_ENTITLEMENT_MOUNTPOINT", "ETC_PKI_RPM_GPG_MOUNTPOINT", "ETC_YUM_REPOS_D_MOUNTPOINT"}

// readInputs takes the files of these folders, without the kubelet's own, into the image, below the inputs folder.
func readInputs() []layerFile {
	var files []layerFile
	for _, name := range optionalInputs {
		folder := os.Getenv(name)
		if folder == "" {
			continue
		}
		for _, entry := range must(os.ReadDir(folder)) {
			if strings.HasPrefix(entry.Name(), "..") {
				continue
			}
			path := folder + "/" + entry.Name()
			files = append(files, layerFile{name: inputs[1:] + path, mode: 0o644, content: must(os.ReadFile(path))})
		}
	}
	return files
}

// readMachineConfig unpacks the pool's configuration: gzip in base64, as it is mounted.
func readMachineConfig() []byte {
	packed := must(base64.StdEncoding.DecodeString(string(must(os.ReadFile("/tmp/machineconfig/machineconfig.json.gz")))))
	text := must(io.ReadAll(must(gzip.NewReader(bytes.NewReader(packed)))))
	if !json.Valid(text) {
		exitOn(fmt.Errorf("the machine configuration is no JSON"))
	}
	return text
}

// show prints what it is in an image that was built: the program's architecture, the builder's, the end of the text, and the
// inputs of the cluster.
func show() {
	arch := must(os.ReadFile("/etc/built/arch"))
	lines := strings.Split(strings.TrimSpace(string(must(os.ReadFile("/etc/built/Containerfile")))), "\n")
	fmt.Printf("a program for %s, built on %s: %s\n", runtime.GOARCH, arch, lines[len(lines)-1])
	if _, err := os.Stat(inputs); err != nil {
		return
	}
	exitOn(filepath.WalkDir(inputs, func(path string, entry fs.DirEntry, err error) error {
		exitOn(err)
		if !entry.IsDir() {
			fmt.Printf("%s: %s\n", strings.TrimPrefix(path, inputs), must(os.ReadFile(path)))
		}
		return nil
	}))
}

// handOver writes the digest into a ConfigMap, with the rights of the pod's account.
func handOver(args []string) {
	flags := flag.NewFlagSet("hand-over", flag.ExitOnError)
	name := flags.String("configmap-name", "", "name of the ConfigMap")
	file := flags.String("digestfile", "", "file with the digest")
	namespace := flags.String("namespace", "", "namespace of the ConfigMap")
	labelText := flags.String("labels", "", "labels as KEY=VALUE, separated by commas")
	exitOn(flags.Parse(args))
	// The function that the machine config operator's command calls.
	pairs := must(labels.ConvertSelectorToLabelsMap(*labelText))
	body := must(json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": *name, "labels": pairs},
		"data": map[string]string{
			"digest":   strings.TrimSpace(string(must(os.ReadFile(*file)))),
			"arch":     os.Getenv("ARCH"),
			"buildKey": os.Getenv("BUILD_KEY"),
			"jobUID":   os.Getenv("JOB_UID"),
		},
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
