package interop;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;

import scala.Console;

import org.apache.kafka.common.utils.Exit;

/** Kafka's command-line tools, run inside this process: a start costs nothing. */
final class ToolsOracle {
    /** A tool asked to end the process. */
    private static final class Exited extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Exited(String message) {
            super(message);
        }
    }

    /**
     * What the tool ended with. Some tools catch whatever is thrown, complain and exit again:
     * in a process of its own the first exit would have been the last.
     */
    private static final class End {
        private int status = 0;
        private boolean isReached = false;
    }

    private ToolsOracle() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("tool.run", ToolsOracle::run);
    }

    private static JsonNode run(JsonNode question) throws Exception {
        String[] arguments = new String[question.path("arguments").size()];
        for (int index = 0; index < arguments.length; index++)
            arguments[index] = question.path("arguments").get(index).asText();
        Class<?> tool = Class.forName(question.path("class").asText());
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        ByteArrayOutputStream complaints = new ByteArrayOutputStream();
        int status = captured(tool, arguments, printed, complaints);
        return Oracle.JSON.createObjectNode()
            .put("status", status)
            .put("printed", printed.toString(StandardCharsets.UTF_8))
            .put("complaints", complaints.toString(StandardCharsets.UTF_8));
    }

    private static int captured(Class<?> tool, String[] arguments,
            ByteArrayOutputStream printed, ByteArrayOutputStream complaints) throws Exception {
        PrintStream stdout = System.out;
        PrintStream stderr = System.err;
        End end = new End();
        ByteArrayOutputStream afterwards = new ByteArrayOutputStream();
        Exit.setExitProcedure((status, message) -> {
            if (!end.isReached) {
                end.isReached = true;
                end.status = status;
                System.setErr(new PrintStream(afterwards, true, StandardCharsets.UTF_8));
            }
            throw new Exited(message);
        });
        try (PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
             PrintStream err = new PrintStream(complaints, true, StandardCharsets.UTF_8)) {
            System.setOut(out);
            System.setErr(err);
            runMain(tool, arguments, out);
            return end.status;
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Exited)
                return end.status;
            if (error.getCause() instanceof Exception cause)
                throw cause;
            throw error;
        } finally {
            System.setOut(stdout);
            System.setErr(stderr);
            Exit.resetExitProcedure();
        }
    }

    /** Tools in Scala print to a stream of Scala's own, which is the one that it found first. */
    private static void runMain(Class<?> tool, String[] arguments, PrintStream out)
            throws ReflectiveOperationException {
        Method main = tool.getMethod("main", String[].class);
        ReflectiveOperationException thrown = Console.withOut(out, () -> {
            try {
                main.invoke(null, (Object) arguments);
                return null;
            } catch (ReflectiveOperationException error) {
                return error;
            }
        });
        if (thrown != null)
            throw thrown;
    }
}
