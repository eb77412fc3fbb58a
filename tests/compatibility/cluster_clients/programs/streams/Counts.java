import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Produced;

/** Counts the records of each key of `input`, exactly once; each count is a record of `output`. */
public class Counts {
    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", args[0]);
        settings.put("state.dir", args[1]);
        settings.put("application.id", "counts");
        settings.put("num.stream.threads", "2");
        settings.put("processing.guarantee", "exactly_once_v2");
        settings.put("replication.factor", "3");
        settings.put("commit.interval.ms", "100");
        settings.put("statestore.cache.max.bytes", "0"); // every count is sent
        settings.put("consumer.auto.offset.reset", "earliest");
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream("input")
                .groupByKey()
                .count()
                .toStream()
                .mapValues(count -> Long.toString(count))
                .to("output", Produced.with(Serdes.String(), Serdes.String()));
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setUncaughtExceptionHandler(
                error -> {
                    error.printStackTrace();
                    return StreamThreadExceptionResponse.REPLACE_THREAD;
                });
        streams.start();
        System.in.read();
        streams.close(Duration.ofSeconds(20));
    }
}
