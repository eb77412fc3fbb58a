import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/** Kafka's own client. `telling.py` says what the lines mean. */
public final class Client {
    private static final int RECORDS = 5;
    private static final long PAUSE_MS = 10;
    private static volatile boolean isEnded = false;

    public static void main(String[] arguments) throws Exception {
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (Exception error) {
                complain(error);
            }
            isEnded = true;
        });
        watch.setDaemon(true);
        watch.start();
        String topic = arguments[2];
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[1]);
        for (String side : List.of("key", "value")) {
            settings.put(side + ".serializer", "org.apache.kafka.common.serialization.StringSerializer");
            settings.put(side + ".deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        }
        for (int at = 3; at < arguments.length; at++)
            settings.put(arguments[at].split("=")[0], arguments[at].split("=")[1]);
        switch (arguments[0]) {
            case "produce" -> produce(settings, topic);
            case "consume" -> consume(settings, topic);
            default -> transact(settings, topic);
        }
    }

    private static void produce(Properties settings, String topic) throws Exception {
        settings.put("acks", "all");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            for (int number = 0; !isEnded; number++) {
                String value = String.valueOf(number);
                producer.send(new ProducerRecord<>(topic, value, value), (sent, error) -> {
                    if (error == null)
                        tell("sent " + value);
                    else
                        complain(error);
                });
                Thread.sleep(PAUSE_MS);
            }
        }
    }

    private static void consume(Properties settings, String topic) {
        settings.put("group.id", "readers-of-" + topic);
        settings.put("auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(List.of(topic));
            while (!isEnded)
                for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofMillis(200)))
                    tell("read " + each.partition() + " " + each.offset() + " " + each.value());
        }
    }

    private static void transact(Properties settings, String topic) throws Exception {
        settings.put("transactional.id", "writer-of-" + topic);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            producer.initTransactions();
            for (int number = 0; !isEnded; number++) {
                producer.beginTransaction();
                for (int at = 0; at < RECORDS; at++) {
                    producer.send(new ProducerRecord<>(topic, String.valueOf(at), number + "-" + at));
                    Thread.sleep(PAUSE_MS);
                }
                end(producer, number);
            }
        }
    }

    private static void end(KafkaProducer<String, String> producer, int number) {
        boolean isCommit = number % 3 != 2;
        while (true) {
            try {
                if (isCommit)
                    producer.commitTransaction();
                else
                    producer.abortTransaction();
                tell((isCommit ? "committed " : "aborted ") + number);
                return;
            } catch (TimeoutException error) {
                complain(error);  // to be tried again
            } catch (KafkaException error) {
                complain(error);
                if (!isCommit)
                    throw error;
                isCommit = false;
            }
        }
    }

    private static synchronized void tell(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void complain(Exception error) {
        tell("error " + String.valueOf(error).replaceAll("\\s+", " "));
    }
}
