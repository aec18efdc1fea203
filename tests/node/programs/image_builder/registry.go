package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// repository is one of a registry over plain HTTP that asks for a login.
type repository struct {
	url       string
	reference string
	user      string
	password  string
	client    *http.Client
}

// openRepository reads HOST/REPOSITORY:TAG or HOST/REPOSITORY@DIGEST, and the login for the host.
func openRepository(image, credentials string) repository {
	host, path, _ := strings.Cut(image, "/")
	name, reference, hasDigest := strings.Cut(path, "@")
	if !hasDigest {
		name, reference, _ = strings.Cut(path, ":")
	}
	user, password := findLogin(host, credentials)
	return repository{
		url:       "http://" + host + "/v2/" + name,
		reference: reference,
		user:      user,
		password:  password,
		client:    &http.Client{Timeout: timeout},
	}
}

func findLogin(host, file string) (string, string) {
	var config struct {
		Auths map[string]struct{ Auth, Username, Password string }
	}
	exitOn(json.Unmarshal(must(os.ReadFile(file)), &config))
	login := config.Auths[host]
	if login.Auth == "" {
		return login.Username, login.Password
	}
	user, password, _ := strings.Cut(string(must(base64.StdEncoding.DecodeString(login.Auth))), ":")
	return user, password
}

// send ends the program where the registry answers with another status than those.
func (r repository) send(method, target, contentType string, body []byte, expected ...int) ([]byte, *http.Response) {
	request := must(http.NewRequest(method, target, bytes.NewReader(body)))
	request.SetBasicAuth(r.user, r.password)
	request.Header.Set("Accept", indexType+", "+manifestType)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response := must(r.client.Do(request))
	defer response.Body.Close()
	text := must(io.ReadAll(response.Body))
	for _, status := range expected {
		if response.StatusCode == status {
			return text, response
		}
	}
	exitOn(fmt.Errorf("%s %s: %s: %s", method, target, response.Status, text))
	return nil, nil
}

func (r repository) manifest(reference string) []byte {
	text, _ := r.send(http.MethodGet, r.url+"/manifests/"+reference, "", nil, http.StatusOK)
	return text
}

func (r repository) blob(digest string) []byte {
	content, _ := r.send(http.MethodGet, r.url+"/blobs/"+digest, "", nil, http.StatusOK)
	if digestOf(content) != digest {
		exitOn(fmt.Errorf("blob %s has another content", digest))
	}
	return content
}

// pushBlob sends what the repository does not have.
func (r repository) pushBlob(content []byte) {
	digest := digestOf(content)
	_, found := r.send(http.MethodHead, r.url+"/blobs/"+digest, "", nil, http.StatusOK, http.StatusNotFound)
	if found.StatusCode == http.StatusOK {
		return
	}
	_, session := r.send(http.MethodPost, r.url+"/blobs/uploads/", "", nil, http.StatusAccepted)
	target := must(must(url.Parse(r.url)).Parse(session.Header.Get("Location")))
	query := target.Query()
	query.Set("digest", digest)
	target.RawQuery = query.Encode()
	r.send(http.MethodPut, target.String(), "application/octet-stream", content, http.StatusCreated)
}

func (r repository) pushManifest(content []byte) {
	r.send(http.MethodPut, r.url+"/manifests/"+r.reference, manifestType, content, http.StatusCreated)
}

func digestOf(content []byte) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(content))
}
