package interop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedMemberEpochException;
import org.apache.kafka.common.errors.UnknownMemberIdException;

/** Kafka's consumers as members of groups, each in a thread of its own until it is told to leave. */
final class GroupsOracle {
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Map<String, Member> MEMBERS = new HashMap<>();

    private GroupsOracle() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("group.join", GroupsOracle::join);
        operations.put("group.look", question -> member(question).look());
        operations.put("group.leave", GroupsOracle::leave);
    }

    private static JsonNode join(JsonNode question) {
        Member member = new Member(question);
        MEMBERS.put(question.path("member").asText(), member);
        member.start();
        return Oracle.JSON.createObjectNode();
    }

    private static JsonNode leave(JsonNode question) throws Exception {
        Member member = member(question);
        member.leave();
        MEMBERS.remove(question.path("member").asText());
        return member.look();
    }

    private static Member member(JsonNode question) {
        return MEMBERS.get(question.path("member").asText());
    }

    private static final class Member extends Thread {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final JsonNode question;
        // Both are guarded by this.
        private final List<byte[]> read = new ArrayList<>();
        private List<Integer> partitions = List.of();
        private volatile boolean isLeaving = false;
        private volatile Throwable failure = null;

        Member(JsonNode question) {
            super(question.path("member").asText());
            setDaemon(true);
            this.question = question;
            consumer = ClientsOracle.consumer(question);
        }

        @Override
        public void run() {
            try (consumer) {
                consumer.subscribe(List.of(question.path("topic").asText()));
                while (!isLeaving)
                    readSome();
            } catch (Throwable error) {
                failure = error;
            }
        }

        private void readSome() {
            List<byte[]> found = new ArrayList<>();
            try {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL))
                    found.add(record.value());
            } catch (UnknownMemberIdException | FencedMemberEpochException error) {
                // It was held up for longer than its session, and joins again by itself.
            }
            List<Integer> mine =
                consumer.assignment().stream().map(TopicPartition::partition).sorted().toList();
            synchronized (this) {
                read.addAll(found);
                partitions = mine;
            }
        }

        void leave() throws InterruptedException {
            isLeaving = true;
            join();
        }

        /** What it has, and what it has read since the last look. */
        synchronized JsonNode look() {
            ObjectNode answer = Oracle.JSON.createObjectNode();
            ArrayNode numbers = answer.putArray("partitions");
            partitions.forEach(numbers::add);
            ArrayNode values = answer.putArray("records");
            read.forEach(values::add);
            read.clear();
            return answer.put("failure", failure == null ? null : failure.toString());
        }
    }
}
