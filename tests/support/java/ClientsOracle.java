package interop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Future;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's Java clients: topics made, records sent step by step, partitions read to their end. */
final class ClientsOracle {
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Map<String, KafkaProducer<byte[], byte[]>> PRODUCERS = new HashMap<>();

    private ClientsOracle() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("client.create_topic", ClientsOracle::createTopic);
        operations.put("client.delete_records", ClientsOracle::deleteRecords);
        operations.put("client.produce", ClientsOracle::produce);
        operations.put("client.consume", ClientsOracle::consume);
        operations.put("client.offsets", ClientsOracle::offsets);
        operations.put("client.offsets_for_times", ClientsOracle::offsetsForTimes);
        operations.put("client.read_at", ClientsOracle::readAt);
        operations.put("client.position_after_reset", ClientsOracle::positionAfterReset);
    }

    private static JsonNode createTopic(JsonNode question) throws Exception {
        Map<String, String> configs = new HashMap<>();
        question.path("configs").properties()
            .forEach(config -> configs.put(config.getKey(), config.getValue().asText()));
        String name = question.path("topic").asText();
        int partitions = question.path("partitions").asInt(1);
        try (Admin admin = Admin.create(properties(question))) {
            NewTopic topic = new NewTopic(name, partitions, (short) 1).configs(configs);
            return Oracle.JSON.createObjectNode().put("topic_id",
                admin.createTopics(List.of(topic)).topicId(name).get().toString());
        }
    }

    private static JsonNode deleteRecords(JsonNode question) throws Exception {
        TopicPartition partition = partition(question);
        RecordsToDelete before =
            RecordsToDelete.beforeOffset(question.path("before_offset").asLong());
        try (Admin admin = Admin.create(properties(question))) {
            return Oracle.JSON.createObjectNode().put("start",
                admin.deleteRecords(Map.of(partition, before))
                    .lowWatermarks().get(partition).get().lowWatermark());
        }
    }

    /**
     * The steps of one producer: ["send", record], ["flush"], ["begin"], ["commit"], ["abort"],
     * ["offsets", {group, topic, partition, offset}], ["close"]. It stays open for further
     * questions until it is closed. The answer has, for each send, partition and offset.
     */
    private static JsonNode produce(JsonNode question) throws Exception {
        String name = question.path("producer").asText();
        KafkaProducer<byte[], byte[]> producer = PRODUCERS.get(name);
        if (producer == null) {
            producer = new KafkaProducer<>(
                properties(question), new ByteArraySerializer(), new ByteArraySerializer());
            PRODUCERS.put(name, producer);
            if (question.path("configs").has("transactional.id"))
                producer.initTransactions();
        }
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode step : question.path("steps"))
            take(step, name, producer, sent);
        ArrayNode answer = Oracle.JSON.createArrayNode();
        for (Future<RecordMetadata> metadata : sent)
            answer.addArray().add(metadata.get().partition()).add(metadata.get().offset());
        return answer;
    }

    private static void take(JsonNode step, String name,
            KafkaProducer<byte[], byte[]> producer, List<Future<RecordMetadata>> sent)
            throws Exception {
        switch (step.get(0).asText()) {
            case "send" -> sent.add(producer.send(record(step.get(1))));
            case "flush" -> producer.flush();
            case "begin" -> producer.beginTransaction();
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "offsets" -> sendOffsets(step.get(1), producer);
            case "close" -> PRODUCERS.remove(name).close(Duration.ZERO);
            default -> throw new IllegalArgumentException("no such step: " + step);
        }
    }

    @SuppressWarnings("removal") // there is no other way to name a group without being a member
    private static void sendOffsets(JsonNode json, KafkaProducer<byte[], byte[]> producer) {
        OffsetAndMetadata offset = new OffsetAndMetadata(json.path("offset").asLong());
        producer.sendOffsetsToTransaction(Map.of(partition(json), offset),
            new ConsumerGroupMetadata(json.path("group").asText()));
    }

    private static ProducerRecord<byte[], byte[]> record(JsonNode json) throws Exception {
        JsonNode timestamp = json.path("timestamp");
        return new ProducerRecord<>(
            json.path("topic").asText(),
            json.path("partition").asInt(0),
            timestamp.isNumber() ? timestamp.asLong() : null,
            json.path("key").binaryValue(),
            json.path("value").binaryValue(),
            Arrays.asList(HeadersJson.read(json.path("headers"))));
    }

    /**
     * Every record from `from` (the start by default) to the end that this isolation sees. With
     * the `leader_epoch` of `from` the consumer first asks whether that part of the log still stands.
     */
    private static JsonNode consume(JsonNode question) throws Exception {
        TopicPartition partition = partition(question);
        ArrayNode answer = Oracle.JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(question)) {
            List<TopicPartition> partitions = List.of(partition);
            consumer.assign(partitions);
            if (question.has("leader_epoch"))
                consumer.seek(partition, new OffsetAndMetadata(question.path("from").asLong(),
                    Optional.of(question.path("leader_epoch").asInt()), ""));
            else if (question.has("from"))
                consumer.seek(partition, question.path("from").asLong());
            else
                consumer.seekToBeginning(partitions);
            long end = consumer.endOffsets(partitions, PATIENCE).get(partition);
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (consumer.position(partition, PATIENCE) < end) {
                if (System.nanoTime() > deadline)
                    throw new IllegalStateException(
                        "at " + consumer.position(partition) + " of " + end + " after " + PATIENCE);
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200)))
                    describe(record, answer.addObject());
            }
        }
        return answer;
    }

    private static void describe(ConsumerRecord<byte[], byte[]> record, ObjectNode json) {
        json.put("offset", record.offset()).put("timestamp", record.timestamp())
            .put("timestamp_type", record.timestampType().name)
            .put("key", record.key()).put("value", record.value());
        record.leaderEpoch().ifPresent(epoch -> json.put("leader_epoch", epoch));
        ArrayNode headers = json.putArray("headers");
        for (Header header : record.headers())
            headers.addArray().add(header.key()).add(header.value());
    }

    private static JsonNode offsets(JsonNode question) {
        TopicPartition partition = partition(question);
        List<TopicPartition> partitions = List.of(partition);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(question)) {
            return Oracle.JSON.createObjectNode()
                .put("start", consumer.beginningOffsets(partitions, PATIENCE).get(partition))
                .put("end", consumer.endOffsets(partitions, PATIENCE).get(partition));
        }
    }

    private static JsonNode offsetsForTimes(JsonNode question) {
        TopicPartition partition = partition(question);
        ArrayNode answer = Oracle.JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(question)) {
            for (JsonNode timestamp : question.path("timestamps")) {
                OffsetAndTimestamp found = consumer.offsetsForTimes(
                    Map.of(partition, timestamp.asLong()), PATIENCE).get(partition);
                if (found == null)
                    answer.addNull();
                else
                    answer.addArray().add(found.offset()).add(found.timestamp());
            }
        }
        return answer;
    }

    /** One consumer goes to each of `offsets` in turn. The answer has where the next record was. */
    private static JsonNode readAt(JsonNode question) {
        TopicPartition partition = partition(question);
        ArrayNode answer = Oracle.JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(question)) {
            consumer.assign(List.of(partition));
            for (JsonNode offset : question.path("offsets")) {
                consumer.seek(partition, offset.asLong());
                answer.add(consumer.poll(PATIENCE).records(partition).get(0).offset());
            }
        }
        return answer;
    }

    /** Where a consumer goes on that began at `start`, which is not there. */
    private static JsonNode positionAfterReset(JsonNode question) {
        TopicPartition partition = partition(question);
        long start = question.path("start").asLong();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(question)) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, start);
            long position = start;
            while (position == start && System.nanoTime() < deadline) {
                var records = consumer.poll(Duration.ofMillis(100)).records(partition);
                position = records.isEmpty() ? consumer.position(partition, PATIENCE)
                    : records.get(0).offset();
            }
            return Oracle.JSON.createObjectNode().put("position", position);
        }
    }

    static KafkaConsumer<byte[], byte[]> consumer(JsonNode question) {
        Properties properties = properties(question);
        properties.putIfAbsent("auto.offset.reset", "none");
        properties.putIfAbsent("fetch.max.wait.ms", "20");  // closing waits for the last fetch
        return new KafkaConsumer<>(
            properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static TopicPartition partition(JsonNode question) {
        return new TopicPartition(
            question.path("topic").asText(), question.path("partition").asInt(0));
    }

    private static Properties properties(JsonNode question) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", question.path("bootstrap").asText());
        question.path("configs").properties().forEach(
            config -> properties.put(config.getKey(), config.getValue().asText()));
        return properties;
    }
}
