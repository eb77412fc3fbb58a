// Clients in Go: `clients LIBRARY ROLE BOOTSTRAP TOPIC [RACK]`. telling.py says what the lines mean.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	records = 5
	pause   = 10 * time.Millisecond
)

var (
	ended   atomic.Bool
	telling sync.Mutex
)

func tell(words ...any) {
	telling.Lock()
	defer telling.Unlock()
	fmt.Println(words...)
}

func complain(err error) {
	tell("error", strings.Join(strings.Fields(err.Error()), " "))
}

type role func(bootstrap []string, topic string)

var roles = map[string]map[string]role{
	"franz-go": {"produce": franzProduce, "consume": franzConsume, "transact": franzTransact},
	"sarama":   {"produce": saramaProduce, "consume": saramaConsume, "transact": saramaTransact},
	"kafka-go": {"produce": segmentProduce, "consume": segmentConsume},
}

func rack() string {
	if len(os.Args) > 5 {
		return os.Args[5]
	}
	return ""
}

func main() {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		ended.Store(true)
	}()
	roles[os.Args[1]][os.Args[2]](strings.Split(os.Args[3], ","), os.Args[4])
}
