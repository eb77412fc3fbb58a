package interop;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;

import org.apache.kafka.common.utils.Time;

/**
 * One Apache Kafka node in this process. Arguments: the properties file, and the cluster id to
 * format the log directory with where it is not formatted yet.
 *
 * Prints READY once it serves. Ends in order on SIGTERM, and at once when its standard input
 * closes: a test run that dies leaves no broker behind.
 */
public final class KafkaNode {
    private KafkaNode() {
    }

    public static void main(String[] arguments) throws IOException {
        haltWhenInputCloses();
        String file = arguments[0];
        String[] format = {"format", "--ignore-formatted", "-t", arguments[1], "-c", file};
        int status = StorageTool.execute(format, System.err);
        if (status != 0)
            System.exit(status);
        try {
            run(KafkaConfig.fromProps(propertiesIn(file)));
        } catch (Throwable error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);  // threads that were started would go on for ever
        }
    }

    private static void run(KafkaConfig config) {
        KafkaRaftServer server = new KafkaRaftServer(config, Time.SYSTEM);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown, "shutdown"));
        server.startup();
        System.out.println("READY");
        server.awaitShutdown();
    }

    static void haltWhenInputCloses() {
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Nothing is ever sent: only the end of the stream matters.
                }
            } catch (IOException error) {
                // A broken stream has ended too.
            }
            Runtime.getRuntime().halt(2);
        }, "watch-input");
        watch.setDaemon(true);
        watch.start();
    }

    private static Properties propertiesIn(String file) throws IOException {
        Properties properties = new Properties();
        try (InputStream stream = Files.newInputStream(Path.of(file))) {
            properties.load(stream);
        }
        return properties;
    }
}
