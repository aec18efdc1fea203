package main

// Private keys: made once and kept in a folder, since large RSA keys take seconds.

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

var keyFolder string

// keyOf gives the key of a name such as "rsa2048-leaf" or "p256-thief": kind, then what distinguishes it.
func keyOf(name string) crypto.Signer {
	path := filepath.Join(keyFolder, name+".key")
	if der, err := os.ReadFile(path); err == nil {
		return must(x509.ParsePKCS8PrivateKey(der)).(crypto.Signer)
	}
	kind, _, _ := strings.Cut(name, "-")
	key := makeKey(kind)
	part := path + "." + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(part, must(x509.MarshalPKCS8PrivateKey(key)), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(part, path); err != nil {
		panic(err)
	}
	return key
}

func makeKey(kind string) crypto.Signer {
	curves := map[string]elliptic.Curve{"p224": elliptic.P224(), "p256": elliptic.P256(), "p384": elliptic.P384(), "p521": elliptic.P521()}
	if curve, found := curves[kind]; found {
		return must(ecdsa.GenerateKey(curve, rand.Reader))
	}
	if kind == "ed25519" {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return must(key, err)
	}
	return must(rsa.GenerateKey(rand.Reader, must(strconv.Atoi(strings.TrimPrefix(kind, "rsa")))))
}

func pkcs8(key crypto.Signer) string {
	return pemBlock("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))
}

func pkcs1(key crypto.Signer, label string) string {
	return pemBlock(label, x509.MarshalPKCS1PrivateKey(key.(*rsa.PrivateKey)))
}

func sec1(key crypto.Signer) string {
	return pemBlock("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(key.(*ecdsa.PrivateKey))))
}
