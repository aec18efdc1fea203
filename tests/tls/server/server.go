package main

// One server per configuration, which serves one image index, and Go's own client to ask it.

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const index = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[
{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":500,"digest":"sha256:1111111111111111111111111111111111111111111111111111111111111111","platform":{"os":"linux","architecture":"amd64"}},
{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":500,"digest":"sha256:2222222222222222222222222222222222222222222222222222222222222222","platform":{"os":"linux","architecture":"arm64"}}]}`

// configuration is one row of the matrix. What is exported goes to the tests.
type configuration struct {
	Name string `json:"name"`
	// Host is the name by which clients ask; it leads to 127.0.0.1.
	Host string `json:"host"`
	Port int    `json:"port"`
	// CA is the text of the CA file.
	CA                string `json:"ca"`
	ClientCertificate string `json:"clientCertificate"`
	ClientKey         string `json:"clientKey"`
	// Go is what Go's client says: "ok" or its error.
	Go string `json:"go"`

	chain     [][]byte
	key       crypto.Signer
	tune      func(*tls.Config)
	http1     bool
	http2     bool
	wantsCert bool
	requests  atomic.Int64
}

func (c *configuration) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.UserAgent(), "archway") {
		c.requests.Add(1)
	}
	if !strings.Contains(r.URL.Path, "/manifests/") {
		return
	}
	w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
	w.Header().Set("Docker-Content-Digest", fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(index))))
	w.Header().Set("Content-Length", strconv.Itoa(len(index)))
	if r.Method != http.MethodHead {
		io.WriteString(w, index)
	}
}

func (c *configuration) serve() {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	c.Port = listener.Addr().(*net.TCPAddr).Port
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: c.chain, PrivateKey: c.key}}}
	if c.wantsCert {
		config.ClientAuth = tls.RequireAnyClientCert
	}
	if c.tune != nil {
		c.tune(config)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(c.http1)
	protocols.SetHTTP2(c.http2)
	server := &http.Server{Handler: c, TLSConfig: config, Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0)}
	go server.ServeTLS(listener, "", "")
}

// ask asks with Go's defaults, as containerd does.
func (c *configuration) ask() string {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(c.CA)) {
		return "no certificate in the CA file"
	}
	config := &tls.Config{RootCAs: pool}
	if c.ClientCertificate != "" {
		pair, err := tls.X509KeyPair([]byte(c.ClientCertificate), []byte(c.ClientKey))
		if err != nil {
			return err.Error()
		}
		config.Certificates = []tls.Certificate{pair}
	}
	address := fmt.Sprintf("127.0.0.1:%d", c.Port)
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}}
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	answer, err := client.Get(fmt.Sprintf("https://%s:%d/v2/team/app/manifests/v1", c.Host, c.Port))
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != index {
		return fmt.Sprintf("%d bytes of %d: %v", len(body), len(index), err)
	}
	return "ok"
}

// proxy leads every CONNECT to the same port of 127.0.0.1, so that names need not resolve.
func proxy() string {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	handler := func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := net.SplitHostPort(r.Host)
		server, err := net.Dial("tcp", "127.0.0.1:"+port)
		if r.Method != http.MethodConnect || err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		client, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(server, client)
			server.Close()
		}()
		io.Copy(client, server)
		client.Close()
	}
	go http.Serve(listener, http.HandlerFunc(handler))
	return "http://" + listener.Addr().String()
}
