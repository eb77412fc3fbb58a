package interop;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.slf4j.LoggerFactory;

/**
 * Answers questions about Apache Kafka: one JSON object a line in, one a line out, in order.
 *
 * {"op": "message.encode", ...} gives {"ok": ...}, or {"error": {"type": ..., "message": ...}}
 * with the name of what was thrown. A question never ends the process; the end of input does.
 * The arguments name the parts that answer.
 */
public final class Oracle {
    /** One kind of question. */
    interface Operation {
        JsonNode answer(JsonNode question) throws Exception;
    }

    // NaN and Infinity bare, as Python writes and reads them.
    static final ObjectMapper JSON = JsonMapper.builder()
        .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
        .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS)
        .build();

    private final Map<String, Operation> operations = new HashMap<>();

    /** Parts go by name: some of them cannot be compiled with every release of Kafka. */
    private Oracle(String[] parts) throws ReflectiveOperationException {
        for (String part : parts)
            Class.forName("interop." + part).getDeclaredMethod("register", Map.class)
                .invoke(null, operations);
    }

    public static void main(String[] parts) throws IOException, ReflectiveOperationException {
        // Answers own standard output: whatever tools and libraries print goes to the log.
        OutputStream answers =
            new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        System.setOut(new PrintStream(System.err, true, StandardCharsets.UTF_8));
        // The logger keeps the stream it finds now, whatever a tool's streams are later.
        LoggerFactory.getLogger(Oracle.class).debug("ready");
        BufferedReader questions = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        Oracle oracle = new Oracle(parts);
        String line;
        while ((line = questions.readLine()) != null) {
            answers.write(JSON.writeValueAsBytes(oracle.answer(line)));
            answers.write('\n');
            if (!questions.ready())
                answers.flush();
        }
        Runtime.getRuntime().halt(0);  // clients that are still open have nobody to serve
    }

    private ObjectNode answer(String line) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            JsonNode question = JSON.readTree(line);
            String name = question.path("op").asText();
            Operation operation = operations.get(name);
            if (operation == null)
                throw new IllegalArgumentException("no operation is named '" + name + "'");
            answer.set("ok", operation.answer(question));
        } catch (Throwable error) {  // libraries throw Errors too, as snappy does for bad data
            answer.removeAll();
            answer.putObject("error")
                .put("type", error.getClass().getName())
                .put("message", String.valueOf(error.getMessage()));
        }
        return answer;
    }
}
